(() => {
  // Answers of the server are waited for, so that a hand that moves fast leaves no queue behind.
  let busy = false, waiting = null;
  const send = (what, ...words) => window.trame.trigger(what, words);
  const sendLatest = async (...words) => {
    if (busy) { waiting = words; return; }
    busy = true;
    try { await send(...words); } finally { busy = false; }
    if (waiting) { const next = waiting; waiting = null; sendLatest(...next); }
  };

  // -- keys: one that is held decides once; only those that step and scroll repeat -----------
  const STEPS = /^([np]|Arrow.*|Page.*)$/;
  let hovered = "Red";
  window.addEventListener("keydown", (event) => {
    const writing = event.target.closest(
      "input:not([type=checkbox]):not([type=range]), select, textarea");
    if (writing || event.altKey || event.metaKey) return;
    let key = event.key;
    if (event.ctrlKey) key = /^z$/i.test(key) ? (event.shiftKey ? "y" : "z") : key === "y" ? "y" : "";
    if (key === "Enter" && event.target.closest("button, summary, [role=button]")) return;
    if (event.target.closest("input[type=range]") && /^(Arrow|Page)/.test(key)) return;
    if (!/^([1-9cdiouzysnpbe?]|Arrow(Up|Down|Left|Right)|Page(Up|Down)|Escape|Enter)$/.test(key)) return;
    event.preventDefault();
    if (event.repeat && !STEPS.test(key)) return;
    if (event.repeat) sendLatest("review_key", key, hovered);
    else send("review_key", key, hovered);
  });
  // A button that was clicked must not take the next Enter.
  window.addEventListener("click", (event) => {
    if (event.detail) event.target.closest("button")?.blur();
  });

  // -- views: what is not painting is done here, before Slicer's views see it ------------------
  const frameOf = (event) => event.target.closest?.(".view-tools") ? null
    : event.target.closest?.("div:has(> .letters)");
  const nameOf = (frame) => frame.querySelector(":scope > .letters").id.slice(5);
  const placeIn = (frame, event) => {
    const box = frame.getBoundingClientRect();
    return [(event.clientX - box.left) / box.width, (event.clientY - box.top) / box.height];
  };
  const hasTool = () => Boolean(window.trame.state.get("tool"));
  let windowing = null, pressed = null;
  window.addEventListener("pointerdown", (event) => {
    const frame = frameOf(event);
    if (!frame || event.button !== 0) return;
    if (event.ctrlKey || event.metaKey) {
      windowing = { x: event.clientX, y: event.clientY };
      event.preventDefault();
      event.stopImmediatePropagation();
    } else if (!hasTool()) {
      pressed = { frame, x: event.clientX, y: event.clientY };
    }
  }, true);
  window.addEventListener("pointermove", (event) => {
    if (windowing) {
      const moved = [event.clientX - windowing.x, event.clientY - windowing.y];
      windowing = { x: event.clientX, y: event.clientY };
      send("review_view", "window", "", ...moved);
      event.stopImmediatePropagation();
      return;
    }
    const frame = frameOf(event);
    if (!frame) return;
    hovered = nameOf(frame);
    if (!event.buttons) sendLatest("review_view", "hover", hovered, ...placeIn(frame, event));
  }, true);
  window.addEventListener("pointerup", (event) => {
    if (windowing) {
      windowing = null;
      event.stopImmediatePropagation();
    } else if (pressed) {
      const still = Math.hypot(event.clientX - pressed.x, event.clientY - pressed.y) < 4;
      const { frame } = pressed;
      pressed = null;
      if (still) send("review_view", "point", nameOf(frame), ...placeIn(frame, event));
    }
  }, true);
  window.addEventListener("dblclick", (event) => {
    const frame = frameOf(event);
    if (frame && !hasTool()) send("review_view", "maximise", nameOf(frame), 0, 0);
  }, true);

  // -- the list keeps the current row in view ----------------------------------------------------
  let seen = null;
  new MutationObserver(() => {
    const row = document.querySelector("#disputes .current");
    if (row === seen) return;
    seen = row;
    const list = row?.closest(".list");
    if (!list) return;
    const own = row.getBoundingClientRect(), all = list.getBoundingClientRect();
    const above = own.top - own.height - all.top, below = own.bottom + own.height - all.bottom;
    if (above < 0) list.scrollTop += above;
    else if (below > 0) list.scrollTop += below;
  }).observe(document, { subtree: true, childList: true, attributes: true, attributeFilter: ["class"] });
})();
