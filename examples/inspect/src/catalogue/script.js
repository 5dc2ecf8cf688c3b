"use strict";
const { operators, models } = JSON.parse(document.getElementById("data").textContent);
const [search, list, detail, count, filters] = ["search", "list", "detail", "count", "filters"].map((id) => document.getElementById(id));
const byName = new Map(operators.map((operator) => [operator.n, operator]));
for (const operator of operators) operator.text = [operator.n, operator.s, operator.d || "", (operator.t || []).join(" ")].join("\n").toLowerCase();

const FILTERS = {
  CPU: (o) => o.k.some(([key]) => key === "CPU"),
  composite: (o) => o.k.some(([key]) => key.startsWith("Composite")),
  autograd: (o) => o.l.includes("autograd"),
  vmap: (o) => o.l.includes("vmap") || (o.t || []).includes("pointwise"),
  autocast: (o) => o.l.includes("autocast"),
  "in models": (o) => o.m,
  tested: (o) => o.o,
  failing: (o) => o.o && o.o[2] > 0,
};
const on = new Set();
const PAGE = 150;
let found = [], shown = 0, chosen = "";

const escape = (text) => String(text).replace(/[&<>"]/g, (c) => ({ "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" })[c]);
const link = (name) => `#${encodeURI(name)}`;

/* Names that are what was typed come first, then those that begin so, then those that have it, then the rest. */
function rank(operator, query) {
  const name = operator.n.toLowerCase(), short = name.slice(name.indexOf("::") + 2);
  if (name === query || short === query) return 0;
  if (short.split(".")[0] === query) return 1;
  if (short.startsWith(query) || name.startsWith(query)) return 2;
  return name.includes(query) ? 3 : 4;
}

function find() {
  const query = search.value.trim().toLowerCase(), words = query.split(/\s+/);
  const fits = (o) => [...on].every((name) => FILTERS[name](o)) && words.every((word) => o.text.includes(word));
  found = operators.filter(fits);
  if (query) found = found.map((o, at) => [rank(o, query), at, o]).sort((a, b) => a[0] - b[0] || a[1] - b[1]).map((each) => each[2]);
  count.textContent = found.length === operators.length ? `${operators.length} operators` : `${found.length} of ${operators.length} operators`;
  list.textContent = "";
  shown = 0;
  list.parentElement.scrollTop = 0;
  more();
}

function more() {
  const line = (o) => {
    const [space, name] = o.n.split("::");
    const dot = o.o ? `<span class="dot${o.o[2] ? " bad" : ""}" title="${o.o[1]} of ${o.o[0]} rows pass">●</span>` : "";
    return `<li><a href="${escape(link(o.n))}" data-name="${escape(o.n)}" aria-current="${o.n === chosen}"><span><span class="space">${escape(space)}::</span>${escape(name)}</span>${dot}</a></li>`;
  };
  list.insertAdjacentHTML("beforeend", found.slice(shown, shown + PAGE).map(line).join(""));
  shown = Math.min(found.length, shown + PAGE);
}

/* The Markdown that documentation here uses: paragraphs, headings, lists, code, links to operators. */
function markdown(text) {
  const inline = (part) => escape(part)
    .replace(/\[`([^`]+)`\](?:\([^)]*\))?/g, (_, name) => {
      const target = [name, name.replace("_", ".")].map((n) => `aten::${n}`).find((n) => byName.has(n));
      return target ? `<a href="${escape(link(target))}"><code>${name}</code></a>` : `<code>${name}</code>`;
    })
    .replace(/`([^`]+)`/g, "<code>$1</code>")
    .replace(/\[([^\]]+)\]\((https?:[^)]+)\)/g, '<a href="$2">$1</a>');
  const block = (part) => {
    if (part.startsWith("# ")) { const [head, ...rest] = part.split("\n"); return `<h3>${inline(head.slice(2))}</h3>` + (rest.length ? block(rest.join("\n")) : ""); }
    if (part.startsWith("- ")) return `<ul>${part.split(/\n(?=- )/).map((item) => `<li>${inline(item.slice(2))}</li>`).join("")}</ul>`;
    return `<p>${inline(part)}</p>`;
  };
  return text.split(/^```/m).map((part, at) => at % 2
    ? `<pre><code>${escape(part.slice(part.indexOf("\n") + 1).split("\n").filter((line) => !/^# |^#$/.test(line)).join("\n"))}</code></pre>`
    : part.split(/\n\s*\n/).map((piece) => piece.trim()).filter(Boolean).map(block).join("")).join("");
}

function show(name) {
  const o = byName.get(name);
  chosen = o ? name : "";
  for (const each of list.querySelectorAll("a")) each.setAttribute("aria-current", each.dataset.name === chosen);
  document.title = o ? `${name} · Operators` : "Operators";
  if (!o) { detail.innerHTML = name ? `<h2>${escape(name)}</h2><p>There is no operator of this name in this program.</p>` : "<p>Choose an operator: type a part of its name, go up and down with the arrow keys.</p>"; return; }
  const part = (title, html) => html ? `<h3>${title}</h3>${html}` : "";
  const chips = (items) => items && items.length ? `<ul class="chips">${items.map((item) => `<li>${escape(item)}</li>`).join("")}</ul>` : "";
  const kernels = o.k.map(([key, run, place, flags]) => `<tr><td>${escape(key)}</td><td><code>${escape(run)}</code>${flags ? ` (${escape(flags)})` : ""}</td><td class="place">${escape(place)}</td></tr>`).join("");
  const family = operators.filter((other) => other !== o && other.n.split(".")[0].replace(/_$/, "") === name.split(".")[0].replace(/_$/, ""));
  const base = returning(name);
  const rows = o.o && `<div class="meter"><i style="width:${100 * o.o[1] / o.o[0]}%"></i></div><p>${o.o[1]} of ${o.o[0]} rows of PyTorch's operator tests pass${o.o[2] ? `, ${o.o[2]} fail` : ""}${o.o[3] ? `, ${o.o[3]} are skipped` : ""}.</p>`;
  detail.innerHTML = `<h2>${escape(name)}</h2><pre class="schema">${escape(o.s)}</pre><p class="place">${escape(o.p)}</p>${chips([...o.l, ...(o.t || [])])}`
    + (o.d ? markdown(o.d) : base ? `<p>Writes what <a href="${escape(link(base))}"><code>${escape(base)}</code></a> gives.</p>` : "")
    + part("Kernels", kernels ? `<table><tr><th>key</th><th>function</th><th>place</th></tr>${kernels}</table>` : "<p>None: it is declared for layers and other crates.</p>")
    + part("Derivative", o.v && `<pre><code>${escape(o.v)}</code></pre>`)
    + part("Tests", rows) + part("Element types in tests", o.o && o.o[4] && chips(o.o[4].split(", ")))
    + part("Models", o.m && chips(o.m.map(([model, calls]) => `${models[model]} × ${calls}`)))
    + part("Its family", family.length && `<ul class="chips">${family.map((other) => `<li><a href="${escape(link(other.n))}">${escape(other.n.split("::")[1])}</a></li>`).join("")}</ul>`);
  detail.scrollTop = 0;
}

/* The operator whose results another writes to `out` or in place. */
function returning(name) {
  const bases = [name.replace(/\.out$/, ""), name.replace(/_out$/, ""), name.replace(/_(?=\.|$)/, "")];
  return bases.find((base) => base !== name && byName.has(base));
}

const named = () => { try { return decodeURIComponent(location.hash.slice(1)); } catch { return ""; } };

function step(by) {
  const at = found.findIndex((o) => o.n === chosen), next = found[Math.max(0, Math.min(found.length - 1, at < 0 ? 0 : at + by))];
  if (!next) return;
  while (shown < found.length && found.indexOf(next) >= shown) more();
  location.replace(link(next.n));
  [...list.querySelectorAll("a")].find((each) => each.dataset.name === next.n)?.scrollIntoView({ block: "nearest" });
}

for (const name of Object.keys(FILTERS)) {
  const button = document.createElement("button");
  Object.assign(button, { type: "button", textContent: name });
  button.setAttribute("aria-pressed", "false");
  button.onclick = () => { on.has(name) ? on.delete(name) : on.add(name); button.setAttribute("aria-pressed", on.has(name)); find(); };
  filters.append(button);
}
search.addEventListener("input", find);
list.parentElement.addEventListener("scroll", ({ target }) => { if (target.scrollTop + target.clientHeight > target.scrollHeight - 600 && shown < found.length) more(); });
addEventListener("hashchange", () => show(named()));
addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.key === "/" && document.activeElement !== search) { search.focus(); search.select(); }
  else if (event.key === "ArrowDown") step(1);
  else if (event.key === "ArrowUp") step(-1);
  else if (event.key === "Enter" && document.activeElement === search && found.length) location.hash = link(found[0].n);
  else if (event.key === "Escape") { search.value = ""; find(); search.focus(); }
  else return;
  event.preventDefault();
});
const root = document.documentElement;
document.getElementById("theme").onclick = () => {
  const dark = root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
  root.dataset.theme = dark ? "light" : "dark";
};
/* Brings the operator of a link into sight. */
function reveal() {
  const at = found.findIndex((o) => o.n === chosen);
  while (shown <= at) more();
  list.querySelector("[aria-current=true]")?.scrollIntoView({ block: "center" });
}

find();
show(named());
reveal();
