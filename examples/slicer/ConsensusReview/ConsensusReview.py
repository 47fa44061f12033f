"""Fuse several readers' segmentations, and adjudicate their differences, in 3D Slicer."""

from __future__ import annotations

import importlib.util

import qt
import slicer
from slicer.ScriptedLoadableModule import (
    ScriptedLoadableModule,
    ScriptedLoadableModuleLogic,
    ScriptedLoadableModuleTest,
    ScriptedLoadableModuleWidget,
)

_COLUMNS = ("no.", "segment", "ml", "mm", "marked by", "decision")


class ConsensusReview(ScriptedLoadableModule):
    """Description of the module, as shown by Slicer."""

    def __init__(self, parent):
        ScriptedLoadableModule.__init__(self, parent)
        self.parent.title = "Consensus Review"
        self.parent.categories = ["Segmentation"]
        self.parent.dependencies = ["Segmentations"]
        self.parent.contributors = ["itk_consensus contributors"]
        self.parent.helpText = (
            "Fuses the segmentations of several readers into a consensus, segment by segment, "
            "lists the regions in which they differ, the largest first, and lets you decide each: "
            "as the consensus, in, out, or as one reader drew it."
        )
        self.parent.acknowledgementText = "Apache-2.0. The work is done by itk_consensus."


class ConsensusReviewWidget(ScriptedLoadableModuleWidget):
    """Panel of the module: the readers, an Apply button, and decisions on disputes."""

    def setup(self):
        """Build the panel."""
        ScriptedLoadableModuleWidget.setup(self)
        self.logic = None
        form = qt.QFormLayout()
        self.layout.addLayout(form)
        self.readers = slicer.qMRMLCheckableNodeComboBox()
        self.readers.nodeTypes = ["vtkMRMLSegmentationNode"]
        self.readers.setMRMLScene(slicer.mrmlScene)
        form.addRow("Readers:", self.readers)
        self.volume = self._selector(["vtkMRMLScalarVolumeNode"], adding=False)
        form.addRow("Image:", self.volume)
        self.output = self._selector(["vtkMRMLSegmentationNode"], adding=True)
        form.addRow("Consensus:", self.output)
        self.who = qt.QLineEdit()
        form.addRow("Reviewer:", self.who)
        self.file = qt.QLineEdit()
        self.file.placeholderText = "decided.seg.nrrd; the record lies beside it"
        form.addRow("File:", self.file)
        self.blinded = qt.QCheckBox("hide the names of readers")
        form.addRow(self.blinded)
        self.apply = qt.QPushButton("Apply")
        self.apply.connect("clicked()", self.onApply)
        form.addRow(self.apply)
        self._makeTable()

    def _makeTable(self):
        self.table = qt.QTableWidget(0, len(_COLUMNS))
        self.table.setHorizontalHeaderLabels(_COLUMNS)
        self.table.setSelectionBehavior(qt.QAbstractItemView.SelectRows)
        self.table.setEditTriggers(qt.QAbstractItemView.NoEditTriggers)
        self.table.connect("itemSelectionChanged()", self.onSelect)
        self.layout.addWidget(self.table)
        self.choices = qt.QHBoxLayout()
        self.layout.addLayout(self.choices)
        self.said = qt.QLabel()
        self.said.wordWrap = True
        self.layout.addWidget(self.said)
        self.layout.addStretch(1)

    def _selector(self, kinds, adding):
        chosen = slicer.qMRMLNodeComboBox()
        chosen.nodeTypes = kinds
        chosen.addEnabled = chosen.renameEnabled = adding
        chosen.noneEnabled = True
        chosen.setMRMLScene(slicer.mrmlScene)
        return chosen

    def onApply(self):
        """Fuse the segmentations of the selected readers."""
        if not installPackage():
            return
        with slicer.util.tryWithErrorDisplay("The readers could not be fused.", waitCursor=True):
            self.logic = ConsensusReviewLogic()
            output = self.output.currentNode()
            if output is None:
                output = slicer.mrmlScene.AddNewNodeByClass("vtkMRMLSegmentationNode", "Consensus")
                output.CreateDefaultDisplayNodes()
                self.output.setCurrentNode(output)
            readers = [node for node in self.readers.checkedNodes() if node is not output]
            self.logic.fuse(
                readers,
                output,
                self.volume.currentNode(),
                blinded=self.blinded.checked,
                file=self.file.text.strip() or None,
                who=self.who.text.strip(),
            )
            self._offerChoices()
            self._show()

    def _offerChoices(self):
        while self.choices.count():
            self.choices.takeAt(0).widget().deleteLater()
        offered = [("consensus", None, "as consensus"), ("label", 1, "in"), ("label", 0, "out")]
        offered += [("rater", j, f"as {name}") for j, name in enumerate(self.logic.readers)]
        for choice, value, text in offered:
            button = qt.QPushButton(text)
            button.connect("clicked()", lambda c=choice, v=value: self.onDecide(c, v))
            self.choices.addWidget(button)
        for text, action in (
            ("Smaller ones as consensus", self.onAcceptSmall),
            ("Reopen", self.onReopen),
            ("Undo", lambda: self._do(self.logic.undo)),
            ("Redo", lambda: self._do(self.logic.redo)),
            ("Save", lambda: self._do(self.logic.save)),
        ):
            button = qt.QPushButton(text)
            button.connect("clicked()", action)
            self.choices.addWidget(button)

    def _show(self):
        review, listed = self.logic.review, self.logic.listed()
        self.table.setRowCount(len(listed))
        for row, number in enumerate(listed):
            for column, text in enumerate(self.logic.row(number)):
                self.table.setItem(row, column, qt.QTableWidgetItem(text))
        small = len(review.disputes) - len(listed)
        self.said.text = f"{len(review.undecided)} of {len(review.disputes)} undecided" + (
            f"; {small} smaller ones are not listed." if small else "."
        )

    def _chosen(self):
        """Return the number of the dispute that is selected in the table; 0 if there is none."""
        row = self.table.currentRow()
        return 0 if self.logic is None or row < 0 else self.logic.listed()[row]

    def _do(self, action):
        """Run an action on the review, and update the display."""
        with slicer.util.tryWithErrorDisplay("That is not possible."):
            action()
        self._show()

    def _name(self):
        """Return the reviewer's name, which is required for every decision."""
        name = self.who.text.strip()
        if not name:
            slicer.util.infoDisplay("Write who reviews first: it is kept with every decision.")
        return name

    def onSelect(self):
        """Show the selected dispute in all slice views."""
        if self._chosen():
            place = self.logic.position(self._chosen())
            slicer.modules.markups.logic().JumpSlicesToLocation(*place, True)

    def onDecide(self, choice, value):
        """Decide the dispute selected in the table, and select the next one."""
        row, number = self.table.currentRow(), self._chosen()
        if number and (name := self._name()):
            self._do(lambda: self.logic.decide(number, choice, value, who=name))
            self.table.selectRow(min(row + 1, self.table.rowCount - 1))

    def onAcceptSmall(self):
        """Accept the consensus for all disputes that are not listed."""
        if name := self._name():
            self._do(lambda: self.logic.accept_small(who=name))

    def onReopen(self):
        """Reopen the dispute selected in the table."""
        if number := self._chosen():
            self._do(lambda: self.logic.reopen(number))


def installPackage():
    """Return whether itk_consensus is installed; if not, ask before installing it."""
    if importlib.util.find_spec("itk_consensus") is not None:
        return True
    wanted = "The module needs the Python package itk-consensus. Install it now (about 60 MB)?"
    if not slicer.util.confirmOkCancelDisplay(wanted, windowTitle="Consensus Review"):
        return False
    with slicer.util.tryWithErrorDisplay("itk-consensus could not be installed.", waitCursor=True):
        slicer.util.pip_install("itk-consensus")
    return importlib.util.find_spec("itk_consensus") is not None


class ConsensusReviewLogic(ScriptedLoadableModuleLogic):
    """Operations behind the panel, also for scripts: ``ConsensusReviewLogic().fuse(nodes,
    output)``.
    """

    def __init__(self):
        ScriptedLoadableModuleLogic.__init__(self)
        from ConsensusReviewLib.segmentations import ConsensusReviewLogic as Segmentations

        self._work = Segmentations()

    def __getattr__(self, name):
        return getattr(self.__dict__["_work"], name)


class ConsensusReviewTest(ScriptedLoadableModuleTest):
    """Test with three readers of a ball, whose consensus is a ball of intermediate size."""

    def setUp(self):
        """Clear the scene."""
        slicer.mrmlScene.Clear()

    def runTest(self):
        """Fuse, decide, and check the output."""
        self.setUp()
        import vtk

        if not installPackage():
            self.delayDisplay("itk-consensus is not installed; nothing was tested")
            return
        nodes = []
        for number, radius in enumerate((10, 12, 14)):
            node = slicer.mrmlScene.AddNewNodeByClass("vtkMRMLSegmentationNode", f"reader {number}")
            ball = vtk.vtkSphereSource()
            ball.SetRadius(radius)
            ball.Update()
            node.AddSegmentFromClosedSurfaceRepresentation(ball.GetOutput(), "ball", [1, 0, 0])
            node.CreateBinaryLabelmapRepresentation()
            nodes.append(node)
        output = slicer.mrmlScene.AddNewNodeByClass("vtkMRMLSegmentationNode", "consensus")
        logic = ConsensusReviewLogic()
        disputes = logic.fuse(nodes, output)
        self.assertTrue(disputes)
        self.assertEqual(list(output.GetSegmentation().GetSegmentIDs()), ["ball"])
        logic.decide(1, "label", 1)
        self.assertEqual(len(logic.review.undecided), len(disputes) - 1)
        self.delayDisplay("Test passed")
