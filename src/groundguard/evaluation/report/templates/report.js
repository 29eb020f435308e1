"use strict";
(() => {
  const root = document.documentElement;
  const byId = (id) => document.getElementById(id);

  const theme = byId("theme");
  const themes = ["system", "light", "dark"];
  theme.hidden = false;
  theme.addEventListener("click", () => {
    const next = themes[(themes.indexOf(root.dataset.theme || "system") + 1) % themes.length];
    if (next === "system") { delete root.dataset.theme; } else { root.dataset.theme = next; }
    theme.textContent = `Theme: ${next}`;
  });

  const form = byId("filters");
  const count = byId("count");
  const items = Array.from(byId("list").children, (element) => ({
    element,
    values: JSON.parse(element.dataset.values).reduce((all, [name, value]) => all.set(name, value), new Map()),
    text: null,
  }));
  const metricNames = JSON.parse(byId("list").dataset.metrics);
  const chosen = (id) => { const box = byId(id); return box ? box.value : ""; };
  const has = (element, name) => {
    const wanted = chosen(`by-${name}`);
    return wanted === "" || element.dataset[name].split(" ").includes(wanted);
  };
  const textOf = (item) => {
    if (item.text === null) { item.text = item.element.textContent.toLowerCase(); }
    return item.text;
  };
  const isLow = (item) => {
    const metric = chosen("by-metric");
    const below = chosen("below");
    if (metric === "" && below === "") { return true; }
    const values = metric === "" ? [...item.values.values()] : [item.values.get(metricNames[Number(metric)])];
    const most = below === "" ? Infinity : Number(below);
    return values.some((value) => typeof value === "number" && value < most);
  };
  const isUnscored = (item) => {
    if (!byId("unscored").checked) { return true; }
    return item.element.dataset.unscored !== undefined;
  };
  const apply = () => {
    const words = chosen("by-text").trim().toLowerCase();
    let left = 0;
    for (const item of items) {
      const keep = ["status", "reason", "tag", "split"].every((name) => has(item.element, name))
        && isLow(item) && isUnscored(item) && (words === "" || textOf(item).includes(words));
      item.element.hidden = !keep;
      left += keep ? 1 : 0;
    }
    const all = `${items.length.toLocaleString("en")} ${items.length === 1 ? "item" : "items"}`;
    count.textContent = left === items.length ? all : `${left.toLocaleString("en")} of ${all}`;
  };
  let waiting = 0;
  form.hidden = false;
  form.addEventListener("submit", (event) => { event.preventDefault(); apply(); });
  form.addEventListener("input", () => { clearTimeout(waiting); waiting = setTimeout(apply, 120); });
  form.addEventListener("reset", () => { setTimeout(apply, 0); });

  const open = () => {
    const target = location.hash.length > 1 ? byId(location.hash.slice(1)) : null;
    if (!target) { return; }
    const item = target.closest(".item");
    if (item && item.hidden) { form.reset(); apply(); }
    if (item && item === target) { item.firstElementChild.open = true; }
    for (let box = target.closest("details"); box; box = box.parentElement.closest("details")) { box.open = true; }
    target.scrollIntoView({ block: item && item !== target ? "center" : "start" });
    if (item) { (item === target ? item.querySelector("summary") : target).focus({ preventScroll: true }); }
  };
  addEventListener("hashchange", open);
  open();
})();
