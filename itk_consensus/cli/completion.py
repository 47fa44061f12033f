"""``itk-consensus completion``: print a shell script for completion that does not start Python."""

from __future__ import annotations

import argparse

from itk_consensus.cli.console import Console
from itk_consensus.methods.registry import METHODS
from itk_consensus.report.text import PROGRAM

_SCRIPT = """\
# Completion of {program}; in bash:  source <({program} completion bash)
# in zsh:  autoload -U bashcompinit && bashcompinit && source <({program} completion zsh)
_itk_consensus() {{
    local word="${{COMP_WORDS[COMP_CWORD]}}" before="${{COMP_WORDS[COMP_CWORD-1]}}" known=""
    if [ "$COMP_CWORD" -eq 1 ]; then
        known="{commands} --help --version"
    elif [ "$before" = "--method" ]; then
        known="{methods}"
    elif [ "${{word:0:1}}" = "-" ]; then
        case "${{COMP_WORDS[1]}}" in
{cases}
        esac
    fi
    COMPREPLY=( $(compgen -W "$known" -- "$word") )
}}
complete -o default -F _itk_consensus {program}
"""


def configure(parser: argparse.ArgumentParser, _words: list[str]) -> None:
    """Add the arguments of the command."""
    parser.set_defaults(run=_completion, parser=parser)
    parser.add_argument("shell", choices=("bash", "zsh"), metavar="{bash,zsh}", help="the shell")


def _completion(arguments: argparse.Namespace, console: Console) -> None:
    from itk_consensus.cli.application import COMMANDS, options_of_command

    cases = [
        f'            {name}) known="{" ".join(options_of_command(name, list(METHODS)))}" ;;'
        for name in COMMANDS
    ]
    console.answer(
        _SCRIPT.format(
            program=PROGRAM,
            commands=" ".join(COMMANDS),
            methods=" ".join(METHODS),
            cases="\n".join(cases),
        )
    )
