// SPDX-License-Identifier: MIT
// What the page of an incident does; the lane view (lanes.js) stands before it in the same script.
const recorded = JSON.parse(document.getElementById("recorded").textContent);
const $ = (selector, root = document) => root.querySelector(selector);
const $$ = (selector, root = document) => [...root.querySelectorAll(selector)];
const seconds = (us) => (us < 0 ? "−" : "+") + Math.abs(us / 1e6).toFixed(3) + " s";

/** Where a time is in what was recorded, in percent. */
const share = (us) => 100 * (us - recorded.from) / (recorded.to - recorded.from);
const within = (us) => Math.min(Math.max(us, recorded.from), recorded.to);

/** The lane view with the time that is shown as a line in it, and each change of a role. */
class Tape extends Lanes {
  draw() {
    super.draw();
    const height = this.rows.length * this.row;
    const line = (at, colour, width) => {
      const x = this.x(at + recorded.zero);
      if (x < this.gutter) return;
      this.context.fillStyle = this.colour(colour);
      this.context.fillRect(x - width / 2, 0, width, height);
    };
    for (const at of recorded.changes) line(at, "late", 1);
    line(now, "accent", 2);
  }

  /** Moves what is drawn, where the time would be out of sight. */
  follow() {
    const at = now + recorded.zero;
    const width = this.to - this.from;
    if (at < this.from || at > this.to) this.show(at - width / 2, at + width / 2);
    else this.draw();
  }
}

let now = 0; // µs from the incident on
let playing = null;

const screens = $$(".pictures figure").map((figure, i) => ({
  image: $("img", figure), note: $(".screen-of p", figure), told: $(".told", figure),
  box: $(".screen-of", figure), pictures: recorded.streams[i].pictures, shown: null,
  name: recorded.streams[i].name,
}));
const slider = document.getElementById("time");
const where = $(".scrubber .where");
const strips = $$(".strip");
const tapes = $$(".lanes").map((root) => new Tape(root));

/** The picture that was the newest at that time: its index, or -1. */
function newest(pictures, at) {
  let low = 0, high = pictures.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (pictures[middle].at <= at) low = middle + 1; else high = middle;
  }
  return low - 1;
}

function showPicture(screen) {
  const picture = screen.pictures[newest(screen.pictures, now)];
  const { image, note, told, box } = screen;
  image.hidden = !picture;
  if (picture && screen.shown !== picture) image.src = "data:image/jpeg;base64," + picture.jpeg;
  screen.shown = picture;
  const gap = picture?.gap && picture.gapAt <= now ? picture.gap : null;
  box.classList.toggle("old", gap !== null);
  note.hidden = picture && gap === null;
  note.textContent = picture ? gap && "no picture: " + recorded.gaps[gap] : "no picture yet";
  told.textContent = picture
    ? `frame ${picture.sequence}, came at ${seconds(picture.at)}, ${((now - picture.at) / 1e6).toFixed(3)} s ago`
    : "";
  image.alt = picture ? `${screen.name}, frame ${picture.sequence}` : "";
}

function show(at) {
  now = within(at);
  screens.forEach(showPicture);
  slider.value = Math.round(now / 1000);
  where.textContent = seconds(now);
  slider.setAttribute("aria-valuetext", `${seconds(now)} from the incident on`);
  for (const strip of strips) strip.lastElementChild.style.left = share(now) + "%";
  tapes.forEach((one) => one.follow());
}

/** The next of these times behind now, or the last one before. */
function next(times, back) {
  const slack = 500; // µs: what the slider rounds
  const found = back
    ? times.filter((at) => at < now - slack).sort((a, b) => b - a)
    : times.filter((at) => at > now + slack).sort((a, b) => a - b);
  return found[0] ?? now;
}

const pictureTimes = () => recorded.streams.flatMap((stream) => stream.pictures.map((one) => one.at));
const deeds = {
  "change-back": () => show(next(recorded.changes, true)),
  change: () => show(next(recorded.changes, false)),
  "picture-back": () => show(next(pictureTimes(), true)),
  picture: () => show(next(pictureTimes(), false)),
  incident: () => show(0),
  play: () => (playing === null ? play() : stop()),
};

function stop() {
  if (playing !== null) cancelAnimationFrame(playing);
  playing = null;
  $("[data-go=play]").setAttribute("aria-pressed", "false");
}

function play() {
  if (now >= recorded.to) show(recorded.from);
  let before = performance.now();
  const step = (at) => {
    show(now + (at - before) * 1000);
    before = at;
    if (now >= recorded.to) stop(); else playing = requestAnimationFrame(step);
  };
  playing = requestAnimationFrame(step);
  $("[data-go=play]").setAttribute("aria-pressed", "true");
}

// --- what is drawn once ---

function mark(strip, kind, from, to, title) {
  const part = document.createElement("i");
  part.className = kind;
  part.style.left = share(within(from)) + "%";
  if (to !== null) part.style.width = share(within(to)) - share(within(from)) + "%";
  if (title) part.title = title;
  strip.append(part);
}

for (const strip of strips) {
  if (strip.dataset.role !== undefined) {
    const spans = recorded.roles[strip.dataset.role];
    for (const one of spans) {
      mark(strip, one.state, one.from, one.to, `${one.state}${one.reason && ", " + one.reason}, from ${seconds(one.from)} to ${seconds(one.to)}`);
    }
    strip.setAttribute("aria-label", spans.map((one) => `${one.state} from ${seconds(one.from)}`).join(", ") || "unknown");
  } else {
    const { pictures } = recorded.streams[strip.dataset.stream];
    pictures.forEach((one, i) => {
      if (one.gap) mark(strip, "gap", one.gapAt, pictures[i + 1]?.at ?? recorded.to, recorded.gaps[one.gap]);
    });
    for (const one of pictures) if (one.at >= recorded.from) mark(strip, "picture", one.at, null);
    strip.setAttribute("aria-label", `${pictures.length} pictures`);
  }
  mark(strip, "incident", 0, null, "the incident");
  mark(strip, "now", 0, null);
  strip.addEventListener("click", (event) => {
    const box = strip.getBoundingClientRect();
    show(recorded.from + (event.clientX - box.left) / box.width * (recorded.to - recorded.from));
  });
}

slider.min = Math.floor(recorded.from / 1000);
slider.max = Math.ceil(recorded.to / 1000);
slider.addEventListener("input", () => { stop(); show(slider.value * 1000); });
document.addEventListener("click", (event) => {
  const { go, at, save } = event.target.dataset ?? {};
  if (go && go !== "play") stop();
  if (go) deeds[go]();
  if (at !== undefined) { stop(); show(Number(at)); $("#player").scrollIntoView({ block: "nearest" }); }
  if (save) saveAs(document.getElementById(save).textContent, event.target.dataset.name);
});
const keys = { ",": "change-back", ".": "change", ArrowLeft: "picture-back", ArrowRight: "picture", i: "incident", " ": "play" };
$("#player").addEventListener("keydown", (event) => {
  const isButton = event.target.tagName === "BUTTON";
  if (event.ctrlKey || event.metaKey || !keys[event.key] || (isButton && event.key === " ")) return;
  if (keys[event.key] !== "play") stop();
  deeds[keys[event.key]]();
  event.preventDefault();
});
for (const tape of tapes) {
  let pressed = 0;
  tape.canvas.addEventListener("pointerdown", (event) => { pressed = event.offsetX; });
  tape.canvas.addEventListener("pointerup", (event) => {
    if (Math.abs(event.offsetX - pressed) > 3 || event.offsetX < tape.gutter) return;
    stop();
    show(tape.time(event.offsetX) - recorded.zero);
  });
}

function saveAs(text, name) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([text], { type: "application/json" }));
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10000);
}

const themes = { light: "dark", dark: "light" };
const isDark = () => matchMedia("(prefers-color-scheme: dark)").matches;
const redraw = () => tapes.forEach((one) => one.draw());
document.getElementById("theme").addEventListener("click", () => {
  const root = document.documentElement;
  root.dataset.theme = themes[root.dataset.theme || (isDark() ? "dark" : "light")];
  redraw();
});
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", redraw);
addEventListener("resize", redraw);

show(0);
