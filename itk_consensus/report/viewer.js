// Goes through the slices of a case and its disputes, and writes decisions as the record of a review.
// It asks for nothing: voxels stand in the page, and what it makes is a file that the reader saves.
"use strict";
(async () => {
  const root = document.getElementById("viewer");
  const data = JSON.parse(document.getElementById("viewer-data").textContent);
  const record = data.record;
  const [depth, rows, columns] = data.shape;
  const find = (id) => document.getElementById(id);
  const canvas = find("viewer-canvas");
  const pen = canvas.getContext("2d");

  // -- voxels ------------------------------------------------------------------------------

  async function unpacked(text, type) {
    if (!text) return null;
    const packed = Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
    const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("deflate"));
    return new type(await new Response(stream).arrayBuffer());
  }

  let image, fused, consensus, raters, disputed;
  try {
    image = await unpacked(data.image, Uint8Array);
    fused = await unpacked(data.consensus, Uint8Array);
    consensus = fused.slice();  // as decisions leave it
    raters = await Promise.all(data.raters.map((text) => unpacked(text, Uint8Array)));
    disputed = await unpacked(data.disputed, Uint16Array);
  } catch (error) {
    find("viewer-message").textContent = "This browser is too old to unpack the slices.";
    return;
  }

  // Axes of a picture: down, across, and the one that is stepped through, as (z, y, x).
  const planes = { axial: [1, 2, 0], coronal: [0, 2, 1], sagittal: [0, 1, 2] };
  const extent = data.shape;
  const step = [rows * columns, columns, 1];
  const view = { plane: "axial", at: [0, 0, 0], zoom: 1, left: 0, top: 0, label: 0, dispute: 0 };

  function slice(volume) {
    const [down, across, through] = planes[view.plane];
    const plane = new volume.constructor(extent[down] * extent[across]);
    let place = 0;
    for (let i = 0; i < extent[down]; i++) {
      let from = view.at[through] * step[through] + i * step[down];
      for (let j = 0; j < extent[across]; j++, from += step[across]) plane[place++] = volume[from];
    }
    return plane;
  }

  // -- drawing -----------------------------------------------------------------------------

  // Pictures hang as radiologists hang them: the patient's right is left, feet are at the bottom.
  const away = { L: "R", R: "L", P: "A", A: "P", S: "I", I: "S" };
  const hung = (axis) => (data.mirrored[axis] ? away[data.towards[axis]] : data.towards[axis]);

  function letters(down, across) {
    if (!data.towards) return;
    const sharp = window.devicePixelRatio || 1;
    const [right, bottom] = [hung(across), hung(down)];
    const [wide, high] = [canvas.width, canvas.height];
    pen.font = `600 ${13 * sharp}px system-ui, sans-serif`;
    pen.textAlign = "center";
    pen.textBaseline = "middle";
    pen.lineWidth = 4 * sharp;
    pen.lineJoin = "round";
    pen.setLineDash([]);
    for (const [text, x, y] of [[away[right], 12 * sharp, high / 2], [right, wide - 12 * sharp, high / 2],
                                [away[bottom], wide / 2, 12 * sharp], [bottom, wide / 2, high - 12 * sharp]]) {
      pen.strokeStyle = "#101317";
      pen.strokeText(text, x, y);
      pen.fillStyle = "#ffffff";
      pen.fillText(text, x, y);
    }
  }

  function outline(labels, high, wide, scale) {
    const shown = (value) => (value === data.missing ? 0 : view.label && value !== view.label ? 0 : value);
    const at = (i, j) => (i < 0 || j < 0 || i >= high || j >= wide ? 0 : shown(labels[i * wide + j]));
    pen.beginPath();
    for (let i = 0; i <= high; i++) {
      for (let j = 0; j <= wide; j++) {
        const here = at(i, j);
        if (here !== at(i - 1, j)) { pen.moveTo(j * scale[1], i * scale[0]); pen.lineTo((j + 1) * scale[1], i * scale[0]); }
        if (here !== at(i, j - 1)) { pen.moveTo(j * scale[1], i * scale[0]); pen.lineTo(j * scale[1], (i + 1) * scale[0]); }
      }
    }
    pen.stroke();
  }

  function draw() {
    const [down, across, through] = planes[view.plane];
    const [high, wide] = [extent[down], extent[across]];
    const [tall, broad] = [high * data.spacing[down], wide * data.spacing[across]];
    const box = canvas.getBoundingClientRect();
    const sharp = window.devicePixelRatio || 1;
    canvas.width = Math.round(box.width * sharp);
    canvas.height = Math.round(box.height * sharp);
    const fit = Math.min(canvas.width / broad, canvas.height / tall) * view.zoom;
    const scale = [data.spacing[down] * fit, data.spacing[across] * fit];
    pen.fillStyle = "#101317";
    pen.fillRect(0, 0, canvas.width, canvas.height);
    pen.save();
    const [mirrorDown, mirrorAcross] = [data.mirrored[down] ? -1 : 1, data.mirrored[across] ? -1 : 1];
    pen.translate(canvas.width / 2 + view.left * sharp - (mirrorAcross * broad * fit) / 2,
                  canvas.height / 2 + view.top * sharp - (mirrorDown * tall * fit) / 2);
    pen.scale(mirrorAcross, mirrorDown);
    const pixels = new ImageData(wide, high);
    const numbers = slice(disputed);
    const grey = image && slice(image);
    const band = find("show-band")?.checked ?? true;
    for (let i = 0; i < wide * high; i++) {
      const base = grey ? grey[i] : 24;
      const mine = numbers[i] && numbers[i] === view.dispute;
      const strength = band && numbers[i] ? (mine ? 0.6 : 0.25) : 0;
      [240, 228, 66].forEach((color, k) => { pixels.data[4 * i + k] = base + strength * (color - base); });
      pixels.data[4 * i + 3] = 255;
    }
    const picture = new OffscreenCanvas(wide, high);
    picture.getContext("2d").putImageData(pixels, 0, 0);
    pen.imageSmoothingEnabled = false;
    pen.drawImage(picture, 0, 0, wide * scale[1], high * scale[0]);
    raters.forEach((labels, j) => {
      if (find(`show-r${j}`)?.checked === false) return;
      pen.strokeStyle = data.colors[j];
      pen.lineWidth = 1.6 * sharp;
      pen.setLineDash(data.dashes[j].map((length) => length * sharp));
      // A pixel apart, so that an edge that readers share shows every colour.
      const apart = Math.min(1.2, 5 / Math.max(1, raters.length - 1)) * (j - (raters.length - 1) / 2) * sharp;
      pen.translate(apart, apart);
      outline(slice(labels), high, wide, scale);
      pen.translate(-apart, -apart);
    });
    pen.setLineDash([]);
    if (find("show-consensus")?.checked !== false) {
      const plane = slice(consensus);
      for (const [color, width] of [["#101317", 5], ["#ffffff", 3]]) {
        pen.strokeStyle = color;
        pen.lineWidth = width * sharp;
        outline(plane, high, wide, scale);
      }
    }
    pen.restore();
    letters(down, across);
    const slider = find("viewer-slice");
    slider.max = extent[through] - 1;
    slider.value = view.at[through];
    const number = view.at[through] + data.corner[through];
    find("viewer-place").textContent = `${view.plane} slice ${number} (0 to ${data.whole[through] - 1})`;
  }

  function move(by) {
    const through = planes[view.plane][2];
    view.at[through] = Math.max(0, Math.min(extent[through] - 1, view.at[through] + by));
    draw();
  }

  // -- disputes and decisions --------------------------------------------------------------

  // A voxel of the image, by its index; what lies outside the part that is here is shown at its edge.
  function show(where) {
    view.at = where.map((place, axis) => Math.max(0, Math.min(extent[axis] - 1, place - data.corner[axis])));
  }

  // A link to a place, such as #look=12,40,38, opens it.
  function look(places) {
    const where = places.split(",").map(Number);
    while (where.length < 3) where.unshift(0);
    show(where);
    const [z, y, x] = view.at;
    const number = disputed[z * step[0] + y * step[1] + x];
    view.zoom = 1; view.left = 0; view.top = 0;
    mark(number);
    draw();
  }

  function mark(number) {
    view.dispute = number;
    for (const row of root.querySelectorAll("tr[data-number]"))
      row.classList.toggle("current", Number(row.dataset.number) === number);
  }

  function go(number) {
    const where = record.disputes[number - 1].index.slice(-3);
    while (where.length < 3) where.unshift(0);
    show(where);
    view.zoom = 1; view.left = 0; view.top = 0;
    mark(number);
    draw();
  }

  function after(dispute) {
    const { choice, label, rater } = dispute.decision ?? { choice: "consensus" };
    if (choice === "label") return { [label]: dispute.voxels };
    if (choice !== "rater") return { [dispute.consensus]: dispute.voxels };
    const counts = { ...dispute.votes[rater] };
    const said = Object.values(counts).reduce((sum, n) => sum + n, 0);
    if (said < dispute.voxels)  // where the reader did not annotate, the consensus stands
      counts[dispute.consensus] = (counts[dispute.consensus] ?? 0) + dispute.voxels - said;
    return counts;
  }

  const tell = (text) => { find("viewer-message").textContent = text; };
  const ml = (counts) => Object.fromEntries(
    Object.entries(counts).map(([label, n]) => [label, Math.round(n * data.voxel_ml * 1e6) / 1e6]));

  const said_by = (value) => {
    const [choice, which] = value.split(":");
    const number = which === undefined ? null : Number(which);
    return { choice, label: choice === "label" ? number : null, rater: choice === "rater" ? number : null };
  };

  // Shows what a decision makes of the voxels of a dispute.
  function repaint(dispute) {
    const { choice, label, rater } = dispute.decision ?? { choice: "consensus" };
    const code = data.labels.indexOf(label);
    for (let i = 0; i < consensus.length; i++) {
      if (disputed[i] !== dispute.number) continue;
      if (choice === "label") consensus[i] = code;
      else if (choice === "rater" && raters[rater][i] !== data.missing) consensus[i] = raters[rater][i];
      else consensus[i] = fused[i];
    }
  }

  function decide(dispute, value) {
    const chosen = said_by(value);
    const said = { reason: "", confidence: null, seconds: null };
    const signed = {
      who: find("viewer-who").value.trim().slice(0, 200), when: new Date().toISOString().replace(/\.\d+Z$/, "+00:00"),
    };
    const did = (kind, more) => record.actions.push({
      kind, disputes: [dispute.number], choice: null, label: null, rater: null, structure: "", painted: "",
      ...signed, ...said, ...more,
    });
    if (dispute.decision) did("reopen", {});  // what is decided is locked until then
    if (value) did("decide", chosen);
    dispute.decision = value === "" ? null : { ...chosen, painted: null, ...signed, ...said };
    settle(dispute);
    count();
    keep();
  }

  function settle(dispute) {
    dispute.voxels_after = after(dispute);
    dispute.ml_after = ml(dispute.voxels_after);
    repaint(dispute);
  }

  // Until they are exported decisions are kept in this browser, by the case that they are about.
  const shelf = `itk_consensus review ${checksum(find("viewer-data").textContent)}`;
  let lost = false;  // whether closing the page would lose a decision
  function keep() {
    lost = true;
    try {
      const decided = record.disputes.filter((one) => one.decision).map((one) => [one.number, one.decision]);
      localStorage.setItem(shelf, JSON.stringify({ actions: record.actions, decided, who: find("viewer-who").value }));
      lost = false;
    } catch (error) {
      tell("This browser keeps nothing: export before the page is closed.");
    }
  }

  function resume() {
    let kept = null;
    try { kept = JSON.parse(localStorage.getItem(shelf)); } catch (error) { return; }
    if (!kept) return;
    record.actions = kept.actions;
    find("viewer-who").value = kept.who;
    for (const [number, decision] of kept.decided) {
      const dispute = record.disputes[number - 1];
      dispute.decision = decision;
      settle(dispute);
      const { choice, label, rater } = decision;
      const row = root.querySelector(`tr[data-number="${number}"] select`);
      if (row) row.value = choice === "consensus" ? choice : `${choice}:${label ?? rater}`;
    }
    tell("Your decisions of before are here; export them to keep them as a file.");
  }

  function count() {
    record.undecided = record.disputes.filter((one) => one.decision === null).length;
    find("viewer-undecided").textContent = `${record.undecided} of ${record.disputes.length} undecided`;
    for (const map of record.maps) {
      const counts = { ...map.voxels_before };
      for (const one of record.disputes.filter((dispute) => dispute.structure === map.name)) {
        counts[one.consensus] = (counts[one.consensus] ?? 0) - one.voxels;
        for (const [label, n] of Object.entries(one.voxels_after)) counts[label] = (counts[label] ?? 0) + n;
      }
      delete counts["0"];
      map.voxels_after = Object.fromEntries(Object.entries(counts).filter(([, n]) => n));
      map.ml_after = ml(map.voxels_after);
    }
  }

  function checksum(text) {
    let sum = ~0;
    for (const byte of new TextEncoder().encode(text)) {
      sum ^= byte;
      for (let bit = 0; bit < 8; bit++) sum = (sum >>> 1) ^ (0xedb88320 & -(sum & 1));
    }
    return (~sum >>> 0).toString(16).padStart(8, "0");
  }

  // The same text as itk_consensus writes: a line for each field, and for each dispute.
  function sealed() {
    const lines = Object.entries(record).map(([key, value]) => {
      const listed = Array.isArray(value) && value.length && typeof value[0] === "object";
      const text = listed
        ? `[\n    ${value.map((one) => JSON.stringify(one)).join(",\n    ")}\n  ]`
        : JSON.stringify(value);
      return `  ${JSON.stringify(key)}: ${text}`;
    });
    const body = `{\n${lines.join(",\n")}`;
    return `${body},\n  "checksum": "${checksum(body)}"\n}\n`;
  }

  function save() {
    const link = document.createElement("a");
    link.href = URL.createObjectURL(new Blob([sealed()], { type: "application/json" }));
    link.download = data.name;
    link.click();
    URL.revokeObjectURL(link.href);
    lost = false;
    try { localStorage.removeItem(shelf); } catch (error) { /* nothing was kept */ }
    tell(`Exported as ${data.name}; this browser keeps no copy.`);
  }

  // -- hands -------------------------------------------------------------------------------

  find("viewer-slice").addEventListener("input", (event) => {
    view.at[planes[view.plane][2]] = Number(event.target.value);
    draw();
  });
  for (const name of Object.keys(planes))
    find(`viewer-${name}`)?.addEventListener("change", () => { view.plane = name; view.left = 0; view.top = 0; draw(); });
  find("viewer-label")?.addEventListener("change", (event) => { view.label = Number(event.target.value); draw(); });
  const zoom = (by) => { view.zoom = Math.max(0.5, Math.min(20, view.zoom * by)); draw(); };
  find("viewer-closer").addEventListener("click", () => zoom(1.25));
  find("viewer-farther").addEventListener("click", () => zoom(0.8));
  canvas.addEventListener("wheel", (event) => {
    event.preventDefault();
    if (event.ctrlKey) zoom(event.deltaY < 0 ? 1.1 : 0.9);
    else move(Math.sign(event.deltaY));
  }, { passive: false });
  let held = null;
  canvas.addEventListener("pointerdown", (event) => { held = event; canvas.setPointerCapture(event.pointerId); });
  canvas.addEventListener("pointerup", () => { held = null; });
  canvas.addEventListener("pointermove", (event) => {
    if (!held) return;
    view.left += event.clientX - held.clientX;
    view.top += event.clientY - held.clientY;
    held = event;
    draw();
  });
  const keys = {
    ArrowUp: () => move(1), ArrowDown: () => move(-1), PageUp: () => move(5), PageDown: () => move(-5),
    "+": () => zoom(1.25), "-": () => zoom(0.8),
    n: () => record.disputes.length && go((view.dispute % record.disputes.length) + 1),
    p: () => record.disputes.length && go(((view.dispute + record.disputes.length - 2) % record.disputes.length) + 1),
  };
  canvas.addEventListener("keydown", (event) => {
    if (!keys[event.key] || event.ctrlKey) return;
    event.preventDefault();
    keys[event.key]();
  });
  for (const row of root.querySelectorAll("tr[data-number]")) {
    const number = Number(row.dataset.number);
    row.querySelector("button").addEventListener("click", () => { go(number); canvas.focus(); });
    const choice = row.querySelector("select");
    let before = choice.value;
    choice.addEventListener("focus", () => { before = choice.value; });
    choice.addEventListener("change", () => {
      if (!find("viewer-who").value.trim()) {
        choice.value = before;
        tell("Write who reviews first: the name is kept with every decision.");
        find("viewer-who").focus();
        return;
      }
      before = choice.value;
      decide(record.disputes[number - 1], choice.value);
      go(number);
    });
  }
  find("viewer-export").addEventListener("click", save);
  document.querySelector("fieldset.legend")?.addEventListener("change", draw);
  window.addEventListener("resize", draw);
  window.addEventListener("beforeunload", (event) => { if (lost) event.preventDefault(); });
  resume();
  count();
  root.hidden = false;
  const asked = () => /^#look=([\d,]+)$/.exec(location.hash)?.[1];
  window.addEventListener("hashchange", () => {
    if (!asked()) return;
    look(asked());
    root.scrollIntoView();
    canvas.focus();
  });
  if (asked() ?? data.place) look(asked() ?? data.place);
  else if (record.disputes.length) go(1);
  else draw();
})();
