// SPDX-License-Identifier: MIT
// What the page does; the lane view (lanes.js) stands before it in the same script.
const themes = { light: "dark", dark: "light" };
const isDark = () => matchMedia("(prefers-color-scheme: dark)").matches;
const lanes = [...document.querySelectorAll(".lanes")].map((root) => new Lanes(root));
const redraw = () => lanes.forEach((one) => one.draw());

document.getElementById("theme").addEventListener("click", () => {
  const root = document.documentElement;
  root.dataset.theme = themes[root.dataset.theme || (isDark() ? "dark" : "light")];
  redraw();
});
document.getElementById("scale").addEventListener("click", (event) => {
  const on = document.body.classList.toggle("log");
  event.target.setAttribute("aria-pressed", on);
});
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", redraw);
addEventListener("resize", redraw);
addEventListener("beforeprint", redraw);
addEventListener("afterprint", redraw);
