"""Consensus of several readers' segmentations, and decisions where they differ, in 3D Slicer."""

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

_COLUMNS = ("ml", "segment", "marked by", "p", "decision")


class ConsensusReview(ScriptedLoadableModule):
    """Description of the module for Slicer."""

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
    """The panel: readers, Apply, and decisions on disputes."""

    def setup(self):
        """Make the panel."""
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
        self.blinded = qt.QCheckBox("hide the names of readers")
        form.addRow(self.blinded)
        self.apply = qt.QPushButton("Apply")
        self.apply.connect("clicked()", self.onApply)
        form.addRow(self.apply)
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
        """Fuse the chosen readers."""
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
                readers, output, self.volume.currentNode(), blinded=self.blinded.checked
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
        undo = qt.QPushButton("Undo")
        undo.connect("clicked()", self.onUndo)
        self.choices.addWidget(undo)

    def _show(self):
        review = self.logic.review
        self.table.setRowCount(len(review.disputes))
        for row, one in enumerate(review.disputes.values()):
            decision = review.decisions.get(one.number)
            shares = zip(self.logic.readers, one.marked_by(), strict=True)
            marked = [name for name, share in shares if share > 0.5]
            cells = (
                f"{self.logic.volume_ml(one.number):.3g}",
                one.structure,
                ", ".join(marked) or "nobody",
                ", ".join(f"{p:.2f}" for p in one.probability.values()),
                "" if decision is None else decision.choice,
            )
            for column, text in enumerate(cells):
                self.table.setItem(row, column, qt.QTableWidgetItem(text))
        self.said.text = f"{len(review.undecided)} of {len(review.disputes)} undecided."

    def onSelect(self):
        """Show the selected dispute in all slice views."""
        if self.logic is not None and self.table.currentRow() >= 0:
            place = self.logic.position(self.table.currentRow() + 1)
            slicer.modules.markups.logic().JumpSlicesToLocation(*place, True)

    def onDecide(self, choice, value):
        """Decide the dispute that is chosen in the table."""
        row = self.table.currentRow()
        if row >= 0:
            self.logic.decide(row + 1, choice, value)
            self._show()
            self.table.selectRow(min(row + 1, self.table.rowCount - 1))

    def onUndo(self):
        """Take the last decision back."""
        self.logic.undo()
        self._show()


def installPackage():
    """Whether itk_consensus is there; if it is not, ask before anything is installed."""
    if importlib.util.find_spec("itk_consensus") is not None:
        return True
    wanted = "The module needs the Python package itk-consensus. Install it now (about 60 MB)?"
    if not slicer.util.confirmOkCancelDisplay(wanted, windowTitle="Consensus Review"):
        return False
    with slicer.util.tryWithErrorDisplay("itk-consensus could not be installed.", waitCursor=True):
        slicer.util.pip_install("itk-consensus")
    return importlib.util.find_spec("itk_consensus") is not None


class ConsensusReviewLogic(ScriptedLoadableModuleLogic):
    """What the panel asks for, for scripts: ``ConsensusReviewLogic().fuse(nodes, output)``."""

    def __init__(self):
        ScriptedLoadableModuleLogic.__init__(self)
        from ConsensusReviewLib.segmentations import ConsensusReviewLogic as Segmentations

        self._work = Segmentations()

    def __getattr__(self, name):
        return getattr(self.__dict__["_work"], name)


class ConsensusReviewTest(ScriptedLoadableModuleTest):
    """Three readers of a ball: the consensus is a ball between theirs."""

    def setUp(self):
        """Begin with an empty scene."""
        slicer.mrmlScene.Clear()

    def runTest(self):
        """Fuse, decide, and look."""
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
