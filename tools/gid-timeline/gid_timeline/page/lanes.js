// SPDX-License-Identifier: MIT
"use strict";

const BODY = 34; // height of what a row draws
const NARROW = 600; // where labels stand above their rows, and not beside them
const AXIS = 24;
const LONGEST = 1e6; // µs: what lasts longer may go unseen while both its ends are out of sight

/** The first index of the ascending `column` whose value is not below `value`. */
function firstNotBelow(column, value) {
  let low = 0, high = column.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (column[middle] < value) low = middle + 1; else high = middle;
  }
  return low;
}

/** Splits columns by the value of one of them, so that each part ascends in time. */
function split(columns, by, time) {
  const parts = new Map();
  columns[by].forEach((key, i) => {
    if (!parts.has(key)) parts.set(key, []);
    parts.get(key).push(i);
  });
  for (const [key, rows] of parts) {
    rows.sort((a, b) => columns[time][a] - columns[time][b]);
    const part = {};
    for (const name in columns) part[name] = rows.map((i) => columns[name][i]);
    parts.set(key, part);
  }
  return parts;
}

const WAY = ["capture", "submit", "receive", "commit", "shown"];
const SUBROWS = 3; // of a stream whose frames are under way at once

/** The stages of frame `i` of a stream between the points that it has, and their colours. */
function stagesOf(parts, i) {
  const points = WAY.filter((point) => parts[point][i] !== null);
  return points.slice(1).map((end, n) => [points[n], end, points[n], `${points[n]} → ${end}`]);
}

/** Adds to a stream's columns where its frames begin and end, and in which subrow each is drawn. */
function arrange(parts) {
  const ends = (i, points) => points.map((point) => parts[point][i]).filter((at) => at !== null);
  const indices = parts.sequence.map((_, i) => i);
  parts.at = indices.map((i) => Math.min(...ends(i, [...WAY, "released"])));
  parts.until = indices.map((i) => Math.max(...ends(i, WAY), parts.at[i]));
  parts.end = indices.map((i) => Math.max(parts.until[i], parts.released[i] ?? 0));
  const busy = [];
  parts.lane = indices.map((i) => {
    let lane = busy.findIndex((until) => until <= parts.at[i]);
    if (lane < 0) lane = busy.length < SUBROWS ? busy.length : busy.indexOf(Math.min(...busy));
    busy[lane] = parts.until[i];
    return lane;
  });
  parts.lanes = Math.max(busy.length, 1);
  return parts;
}

const ms = (us) => (us / 1000).toFixed(3) + " ms";

/** One lane view: its data, the part of time it shows, and how it is drawn. */
class Lanes {
  constructor(root) {
    this.canvas = root.querySelector("canvas");
    this.tip = root.querySelector(".tip");
    this.where = root.querySelector(".where");
    // All times are in µs since the first line of all.
    this.data = JSON.parse(root.querySelector("script").textContent);
    this.frames = split(this.data.frames, "output", "begin");
    this.updates = split(this.data.updates, "surface", "flush");
    this.gpu = split(this.data.gpu, "output", "begin");
    this.streams = this.data.streams.map(arrange);
    this.rows = this.makeRows();
    this.from = Math.max(0, this.worthSeeing() - 100000);
    this.to = Math.min(this.data.end, this.from + 300000);
    if (this.to <= this.from) this.to = this.from + 1000;
    this.fingers = new Map(); // pointers that are down, by their id: where they are
    this.listen(root);
    this.draw();
  }

  /** When frames were late, in the order of time. */
  late() {
    const { begin, late } = this.data.frames;
    const found = begin.filter((_, i) => late[i] > 0);
    for (const parts of this.streams) found.push(...parts.at.filter((_, i) => parts.late[i]));
    return found.sort((a, b) => a - b);
  }

  /** In the midst of what crosses between domains, or else of all frames: there is most to see. */
  worthSeeing() {
    const [parts] = this.streams;
    if (parts?.at.length) return parts.at[parts.at.length >> 2];
    const { begin } = this.data.frames;
    return this.late()[0] ?? begin[begin.length >> 1] ?? 0;
  }

  makeRows() {
    const rows = this.streams.map((parts) => (
      { kind: "streams", label: parts.name, under: parts.domains, parts }
    ));
    for (const output of this.data.outputs) {
      const parts = this.frames.get(output.index);
      rows.push({ kind: "frames", output, label: output.name, under: output.domain, parts });
      if (this.gpu.has(output.index)) {
        rows.push({ kind: "gpu", output, label: "GPU", parts: this.gpu.get(output.index) });
      }
    }
    for (const surface of this.data.surfaces) {
      rows.push({ kind: "updates", label: surface.label, parts: this.updates.get(surface.index) });
    }
    return rows.filter((row) => row.parts);
  }

  listen(root) {
    const canvas = this.canvas;
    const at = (event) => this.time(event.offsetX);
    canvas.addEventListener("wheel", (event) => {
      if (event.ctrlKey || event.metaKey) this.zoom(Math.exp(event.deltaY * 0.004), at(event));
      else if (Math.abs(event.deltaX) > Math.abs(event.deltaY)) this.move(event.deltaX / this.scale);
      else return;
      event.preventDefault();
    }, { passive: false });
    canvas.addEventListener("pointerdown", (event) => {
      this.fingers.set(event.pointerId, event.offsetX);
      canvas.setPointerCapture(event.pointerId);
      canvas.classList.add("moving");
      this.point(event.offsetX, event.offsetY);
    });
    canvas.addEventListener("pointermove", (event) => {
      if (this.fingers.has(event.pointerId)) this.drag(event.pointerId, event.offsetX);
      else this.point(event.offsetX, event.offsetY);
    });
    const release = (event) => {
      this.fingers.delete(event.pointerId);
      if (!this.fingers.size) canvas.classList.remove("moving");
    };
    canvas.addEventListener("pointerup", release);
    canvas.addEventListener("pointercancel", release);
    canvas.addEventListener("pointerleave", () => { this.tip.hidden = true; });
    canvas.addEventListener("dblclick", (event) => this.zoom(0.4, at(event)));
    const deeds = {
      in: () => this.zoom(0.5), out: () => this.zoom(2), late: () => this.nextLate(),
      all: () => this.show(0, this.data.end),
    };
    root.addEventListener("click", (event) => deeds[event.target.dataset.do]?.());
    const keys = {
      "+": deeds.in, "=": deeds.in, "-": deeds.out, "0": deeds.all, n: deeds.late,
      ArrowLeft: () => this.move(-(this.to - this.from) / 5),
      ArrowRight: () => this.move((this.to - this.from) / 5),
    };
    root.addEventListener("keydown", (event) => {
      if (event.ctrlKey || event.metaKey || !keys[event.key]) return;
      keys[event.key]();
      event.preventDefault();
    });
  }

  show(from, to) {
    const width = Math.min(Math.max(to - from, 200), this.data.end * 1.02);
    from = Math.min(Math.max(from, -this.data.end * 0.01), this.data.end * 1.01 - width);
    this.from = from;
    this.to = from + width;
    this.draw();
  }

  /** One finger moves the picture, two stretch it. */
  drag(finger, x) {
    const others = [...this.fingers].filter(([id]) => id !== finger).map(([, at]) => at);
    const before = this.fingers.get(finger);
    this.fingers.set(finger, x);
    if (!others.length) return this.move((before - x) / this.scale);
    const [still] = others;
    const apart = Math.max(Math.abs(before - still), 10) / Math.max(Math.abs(x - still), 10);
    this.zoom(apart, this.time(still));
  }

  move(by) { this.show(this.from + by, this.to + by); }

  zoom(factor, around = (this.from + this.to) / 2) {
    this.show(around - (around - this.from) * factor, around + (this.to - around) * factor);
  }

  nextLate() {
    const middle = (this.from + this.to) / 2 + 1;
    const late = this.late();
    if (!late.length) { this.where.textContent = "no late frame"; return; }
    const time = late.find((begin) => begin > middle) ?? late[0];
    const width = Math.min(this.to - this.from, 250000);
    this.show(time - width / 2, time + width / 2);
  }

  x(time) { return this.gutter + (time - this.from) * this.scale; }

  time(x) { return this.from + (x - this.gutter) / this.scale; }

  /** How wide labels are and how high rows, for this width of the window. */
  measure(context, width) {
    const labels = this.rows.flatMap((row) => [row.label, row.under ?? ""]);
    const widest = Math.max(...labels.map((label) => context.measureText(label).width));
    this.gutter = width < NARROW ? 0 : Math.min(widest + 14, width * 0.35);
    this.row = this.gutter ? BODY : BODY + 16;
  }

  draw() {
    const ratio = devicePixelRatio || 1;
    const context = this.context = this.canvas.getContext("2d");
    const font = "12px system-ui, 'DejaVu Sans', sans-serif";
    const width = this.canvas.clientWidth;
    context.font = font;
    this.measure(context, width);
    const height = this.rows.length * this.row + AXIS;
    this.canvas.style.height = height + "px";
    this.canvas.width = Math.round(width * ratio);
    this.canvas.height = Math.round(height * ratio);
    const style = getComputedStyle(document.documentElement);
    this.colour = (name) => style.getPropertyValue("--" + name).trim();
    this.scale = (width - this.gutter) / (this.to - this.from);
    context.scale(ratio, ratio);
    context.font = font;
    context.save();
    context.beginPath();
    context.rect(this.gutter, 0, width - this.gutter, height);
    context.clip();
    this.drawAbsent(height);
    this.drawAxis(width, height);
    this.drawRefreshes(height);
    this.rows.forEach((row, i) => KINDS[row.kind].draw.call(this, row, (i + 1) * this.row - BODY));
    context.restore();
    this.drawLabels(width);
    this.where.textContent =
      `${(this.from / 1e6).toFixed(4)} to ${(this.to / 1e6).toFixed(4)} s`;
    this.canvas.setAttribute("aria-label", this.sentence());
  }

  /** What there is to see, for those who do not see it. */
  sentence() {
    let count = 0, late = 0;
    const look = (times, lateness) => times.forEach((time, i) => {
      if (time < this.from || time > this.to) return;
      count++;
      if (lateness[i]) late++;
    });
    look(this.data.frames.begin, this.data.frames.late);
    this.streams.forEach((parts) => look(parts.at, parts.late));
    return `Frames by time, ${this.where.textContent}: ${count} frames, ${late} of them late`;
  }

  /** What the page does not have is shaded. */
  drawAbsent(height) {
    const context = this.context;
    context.fillStyle = this.colour("line");
    context.globalAlpha = 0.6;
    let after = 0;
    for (const [from, to] of [...this.data.spans, [this.data.end, this.data.end]]) {
      if (from > after) context.fillRect(this.x(after), 0, (from - after) * this.scale, height - AXIS);
      after = Math.max(after, to);
    }
    context.globalAlpha = 1;
  }

  drawAxis(width, height) {
    const context = this.context;
    const about = (this.to - this.from) / Math.max((width - this.gutter) / 110, 1);
    let step = 10 ** Math.floor(Math.log10(about));
    step *= [1, 2, 5, 10].find((factor) => factor * step >= about);
    const digits = Math.max(0, 6 - Math.floor(Math.log10(step)));
    context.fillStyle = this.colour("muted");
    context.textAlign = "center";
    for (let i = Math.ceil(this.from / step); i * step < this.to; i++) {
      context.fillText((i * step / 1e6).toFixed(Math.min(digits, 6)) + " s", this.x(i * step), height - 6);
    }
  }

  /** A line for each refresh that showed a frame, through all lanes. */
  drawRefreshes(height) {
    const context = this.context;
    if ((this.to - this.from) > 3e6) return;
    context.fillStyle = this.colour("line");
    for (const parts of this.frames.values()) {
      this.visible(parts, "begin", (i) => {
        if (parts.shown[i] !== null) context.fillRect(this.x(parts.shown[i]), 0, 1, height - AXIS);
      });
    }
  }

  /** Calls `draw` for the rows of `parts` that may be seen. */
  visible(parts, time, draw) {
    const end = firstNotBelow(parts[time], this.to + LONGEST);
    for (let i = firstNotBelow(parts[time], this.from - LONGEST); i < end; i++) draw(i);
  }

  box(from, to, y, height, colour) {
    if (from === null || to === null || to < this.from || from > this.to) return;
    this.context.fillStyle = this.colour(colour);
    this.context.fillRect(this.x(from), y, Math.max((to - from) * this.scale, 1), height);
  }

  drawFrames({ parts }, y) {
    this.visible(parts, "begin", (i) => {
      this.box(parts.request[i], parts.begin[i], y + BODY / 2 - 1, 2, "wait");
      this.box(parts.posted[i], parts.shown[i], y + 11, 12, parts.late[i] ? "late" : "present");
      this.box(parts.begin[i], parts.posted[i], y + 7, 20, "repaint");
    });
  }

  drawStream({ parts }, y) {
    const height = Math.floor((BODY - 8) / parts.lanes);
    this.visible(parts, "at", (i) => {
      const top = y + 4 + parts.lane[i] * height;
      this.box(parts.until[i], parts.released[i], top + (height >> 1) - 1, 1, "wait");
      const stages = stagesOf(parts, i);
      stages.forEach(([start, end, colour], n) => {
        const isSlow = parts.late[i] && n === stages.length - 1;
        this.box(parts[start][i], parts[end][i], top, height - 2, isSlow ? "late" : colour);
      });
      if (!stages.length) this.box(parts.at[i], parts.at[i], top, height - 2, "capture");
    });
  }

  drawGpu({ parts }, y) {
    this.visible(parts, "begin", (i) => this.box(parts.begin[i], parts.end[i], y + 9, 16, "gpu"));
  }

  drawUpdates({ parts }, y) {
    this.visible(parts, "flush", (i) => {
      // Frames overlap where they wait long: neighbours take turns in height.
      const top = y + 9 + (i % 2) * 10;
      this.box(parts.commit[i], parts.flush[i], top, 4, "latency");
      this.box(parts.flush[i], parts.shown[i], top + 1, 2, "wait");
      this.box(parts.commit[i], parts.commit[i], top - 2, 8, "latency");
    });
  }

  drawLabels(width) {
    const context = this.context;
    context.textAlign = "left";
    this.rows.forEach((row, i) => {
      context.fillStyle = this.colour("line");
      context.fillRect(0, (i + 1) * this.row - 0.5, width, 0.5);
      const room = this.gutter ? this.gutter - 14 : width;
      const lines = this.gutter && row.under ? [row.label, row.under] : [this.name(row)];
      const base = i * this.row + (this.gutter ? BODY / 2 + 4 : 13) - (lines.length - 1) * 7;
      lines.forEach((line, n) => {
        context.fillStyle = this.colour(row.kind === "frames" || row.under && !n ? "ink" : "muted");
        context.fillText(this.shorten(line, room), 0, base + n * 14);
      });
    });
  }

  name(row) { return row.under ? `${row.label}, ${row.under}` : row.label; }

  /** As much of a label as has room: its beginning and its end, which tell subsurfaces apart. */
  shorten(label, width) {
    let short = label;
    for (let cut = 1; cut < label.length - 4 && this.context.measureText(short).width > width; cut++) {
      const head = (label.length - cut) >> 1;
      short = label.slice(0, head) + "…" + label.slice(head + cut);
    }
    return short;
  }

  /** The tool tip for what lies under the pointer. */
  point(x, y) {
    const row = this.rows[Math.floor(y / this.row)];
    const text = !row ? "" : x >= this.gutter ? this.describe(row, this.time(x)) : this.name(row);
    this.tip.hidden = !text;
    if (!text) return;
    this.tip.textContent = text;
    const left = Math.min(x + 14, this.canvas.clientWidth - this.tip.offsetWidth);
    this.tip.style.left = Math.max(left, 0) + "px";
    this.tip.style.top = this.canvas.offsetTop + (Math.floor(y / this.row) + 1) * this.row + 4 + "px";
  }

  /** What lies under the pointer, in words. */
  describe({ kind, parts }, time) {
    const { order, from, to } = KINDS[kind];
    const slack = 3 / this.scale;
    for (let i = firstNotBelow(parts[order], time + LONGEST) - 1; i >= 0; i--) {
      const at = parts[order][i];
      if (at < time - LONGEST) break;
      if (time < (parts[from][i] ?? at) - slack || time > (parts[to][i] ?? at) + slack) continue;
      const lines = KINDS[kind].stages(parts, i)
        .map(([start, end, , title]) => `${title}  ${ms(parts[end][i] - parts[start][i])}`);
      if (kind === "frames" && parts.late[i]) lines.push(`late, refreshes missed: ${parts.late[i]}`);
      if (kind === "streams" && parts.late[i]) lines.push("an outlier of this stream");
      const which = kind === "streams" ? `frame ${parts.sequence[i]}, ` : "";
      return [`${which}at ${(at / 1e6).toFixed(6)} s`, ...lines].join("\n");
    }
    return "";
  }
}

/** Those of the stages of frame `i` that have both ends. */
const known = (stages) => (parts, i) => stages.filter(
  ([start, end]) => (parts[start]?.[i] ?? null) !== null && (parts[end]?.[i] ?? null) !== null,
);

/** For each kind of row: how it is drawn, the column it is ordered by, its ends, and its stages. */
const KINDS = {
  streams: {
    draw: Lanes.prototype.drawStream, order: "at", from: "at", to: "end",
    stages: (parts, i) => [
      ...stagesOf(parts, i),
      ...known([
        ["capture", "shown", "", "capture → shown"], ["shown", "released", "", "shown → released"],
      ])(parts, i),
    ],
  },
  frames: {
    draw: Lanes.prototype.drawFrames, order: "begin", from: "request", to: "shown",
    stages: known([
      ["request", "begin", "wait", "request → begin"], ["begin", "posted", "repaint", "repaint"],
      ["posted", "shown", "present", "posted → shown"],
    ]),
  },
  gpu: {
    draw: Lanes.prototype.drawGpu, order: "begin", from: "begin", to: "end",
    stages: known([["begin", "end", "gpu", "GPU"]]),
  },
  updates: {
    draw: Lanes.prototype.drawUpdates, order: "flush", from: "commit", to: "shown",
    stages: known([
      ["commit", "flush", "latency", "commit → flush"],
      ["commit", "shown", "wait", "commit → shown"],
    ]),
  },
};
