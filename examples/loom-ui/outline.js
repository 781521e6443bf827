/** The branches: a row for each node, in tree order, with its cost as heat. */

/**
 * Rows in `list`, with keyboard support. `look` makes a node current, `point` reports the row under the pointer or the
 * focus.
 */
export function openOutline(list, loom, { look, point }) {
  const rows = new Map();
  // The first words of each node; a row shows those of the selected version.
  const labels = new Map();
  // The part of the view state that determined the last order of rows.
  let ordered;
  let tipWas;
  list.addEventListener("click", ({ target }) => {
    const row = target.closest("[data-id]");
    if (row) look(row.dataset.id);
  });
  list.addEventListener("mouseover", ({ target }) => point(target.closest("[data-id]")?.dataset.id));
  list.addEventListener("mouseleave", () => point(undefined));
  list.addEventListener("focusin", ({ target }) => {
    reach(target);
    point(target.dataset.id);
  });
  list.addEventListener("focusout", () => point(undefined));
  list.addEventListener("keydown", onKey);
  return { draw };

  function draw(changes, path) {
    if (changes.replace) {
      rows.clear();
      labels.clear();
    }
    for (const id of changes.remove.nodes) {
      rows.delete(id);
      labels.delete(id);
    }
    const { hoist, hidden, versions, showPruned, showHidden } = loom.view;
    const looks = JSON.stringify([hoist, hidden, versions, showPruned, showHidden]);
    let isMoved = looks !== ordered || changes.remove.nodes.length > 0 || changes.upsert.edges.length > 0;
    for (const { id, content, authorType, metadata } of changes.upsert.nodes) {
      const label = labels.get(id) ?? element("span", "label");
      const marks = JSON.stringify([metadata?.pruned, metadata?.excluded]);
      isMoved ||= label.dataset.marks !== marks;
      label.dataset.marks = marks;
      label.textContent = firstWords(content) || "…";
      label.dataset.author = authorType;
      labels.set(id, label);
    }
    // While a reply streams the order is unchanged, and rows keep their place.
    if (isMoved) order();
    ordered = looks;
    mark(path);
    heat();
  }

  /** The visible rows, each after its parent; branches are indented where they fork. */
  function order() {
    const { tree, view } = loom;
    const ids = tree.nodeIds();
    const children = new Map(tree.children(ids).map((found, at) => [ids[at], found]));
    const versions = new Map(tree.versions(ids).map((found, at) => [ids[at], found]));
    const hidden = new Set(view.hidden);
    const isSeen = ({ id, pruned }) => (view.showPruned || !pruned) && (view.showHidden || !hidden.has(id));
    const starts = (view.hoist === undefined ? tree.roots() : [{ id: view.hoist }]).filter(isSeen);
    const open = starts.map((node) => ({ node, indent: 0, level: 1, isFork: starts.length > 1 })).reverse();
    const found = new Map();
    while (open.length > 0) {
      const { node, indent, level, isFork } = open.pop();
      if (found.has(node.id)) continue;
      const next = children.get(node.id).filter(isSeen);
      const deeper = next.length > 1 ? indent + 1 : indent;
      for (const child of next.reverse())
        open.push({ node: child, indent: deeper, level: level + 1, isFork: next.length > 1 });
      const row = fill(node, versions.get(node.id), hidden.has(node.id));
      row.classList.toggle("fork", isFork);
      row.style.setProperty("--indent", Math.min(indent, 8));
      row.ariaLevel = String(level);
      found.set(node.id, row);
    }
    const wanted = [...found.values()];
    if (wanted.length === list.children.length && wanted.every((row, at) => row === list.children[at])) return;
    const focused = list.contains(document.activeElement) ? document.activeElement : undefined;
    list.replaceChildren(...wanted);
    if (focused) (focused.isConnected ? focused : list.querySelector("[aria-selected=true]"))?.focus();
  }

  function fill({ id, annotation }, versions, isHidden) {
    const row = rows.get(id) ?? rowOf(id);
    rows.set(id, row);
    const shown = loom.view.versions[versions[0].id] ?? id;
    const at = versions.findIndex((version) => version.id === shown);
    const { pruned, excluded } = versions[at];
    const [label, flags] = row.children;
    if (label !== labels.get(shown)) label.replaceWith(labels.get(shown));
    const said = [
      versions.length > 1 && `version ${at + 1} of ${versions.length}`,
      pruned && "pruned",
      excluded && "left out",
      isHidden && "hidden",
      annotation && "remark",
    ];
    flags.textContent = said.filter(Boolean).join(", ");
    row.dataset.shown = shown;
    row.classList.toggle("gone", Boolean(pruned || excluded));
    row.classList.toggle("dim", isHidden);
    return row;
  }

  /** Makes one row reachable by the Tab key. */
  function reach(row) {
    for (const other of list.querySelectorAll("[tabindex='0']")) other.tabIndex = -1;
    if (row) row.tabIndex = 0;
  }

  /** Marks the rows on the path, and its tip. */
  function mark(path) {
    for (const row of list.querySelectorAll(".on-path, [aria-selected=true]")) {
      row.classList.remove("on-path");
      row.ariaSelected = "false";
    }
    const isOnPath = new Set(path);
    for (const row of list.children) if (isOnPath.has(row.dataset.shown)) row.classList.add("on-path");
    const found = rows.get(loom.view.tip);
    const tip = found?.isConnected ? found : undefined;
    if (tip) tip.ariaSelected = "true";
    if (tip && loom.view.tip !== tipWas) {
      const { offsetTop, offsetHeight } = tip;
      const isInView = offsetTop >= list.scrollTop && offsetTop + offsetHeight <= list.scrollTop + list.clientHeight;
      if (!isInView) list.scrollTop = offsetTop - list.clientHeight / 2;
    }
    tipWas = loom.view.tip;
    if (!list.contains(document.activeElement)) reach(tip ?? list.firstElementChild);
  }

  function heat() {
    const shown = Array.from(list.children, (row) => row.dataset.shown);
    const costs = loom.tree[loom.view.heat](shown);
    const most = costs.reduce((most, cost) => Math.max(most, cost), 1);
    for (const [at, row] of Array.from(list.children).entries()) {
      const [cost, part] = [String(costs[at]), (costs[at] / most).toFixed(2)];
      if (row.lastElementChild.textContent !== cost) row.lastElementChild.textContent = cost;
      if (row.style.getPropertyValue("--heat") !== part) row.style.setProperty("--heat", part);
    }
  }

  function onKey(event) {
    const row = event.target.closest("[data-id]");
    if (!row || event.ctrlKey || event.metaKey || event.altKey) return;
    const { tree } = loom;
    const { id } = row.dataset;
    const goes = {
      ArrowDown: () => row.nextElementSibling,
      ArrowUp: () => row.previousElementSibling,
      ArrowLeft: () => rows.get(tree.parents(id)[0]?.id),
      ArrowRight: () =>
        tree
          .children(id)
          .map((child) => rows.get(child.id))
          .find((child) => child?.isConnected),
      n: () => rows.get(tree.nextSibling(id)?.id),
      p: () => rows.get(tree.previousSibling(id)?.id),
      Home: () => list.firstElementChild,
      End: () => list.lastElementChild,
    };
    if (event.key === "Enter" || event.key === " ") look(id);
    else if (Object.hasOwn(goes, event.key)) goes[event.key]()?.focus();
    else return;
    event.preventDefault();
  }
}

function rowOf(id) {
  const row = element("div", "row");
  row.role = "treeitem";
  row.tabIndex = -1;
  row.ariaSelected = "false";
  row.dataset.id = id;
  row.append(element("span", "label"), element("span", "flags"), element("span", "cost"));
  return row;
}

function element(name, className) {
  const made = document.createElement(name);
  made.className = className;
  return made;
}

function firstWords(content) {
  if (typeof content === "string") return content.slice(0, 120);
  const { type, text, name, blocks } = content;
  return type === "mixed" ? blocks.map(firstWords).join(" ") : (text ?? `[${name ?? type}]`).slice(0, 120);
}
