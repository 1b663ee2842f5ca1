"use strict";
(function () {
  const plot = document.getElementById("plot");
  const types = { Uint8Array, Uint16Array, Int32Array, Float32Array, Float64Array };
  const columns = DATA.columns.map(function (column) {
    const bytes = Uint8Array.from(atob(column.data), (letter) => letter.charCodeAt(0));
    return new types[column.type](bytes.buffer);
  });
  const lanes = DATA.genome.lanes;
  const n = DATA.id.length;
  const lane = columns[DATA.genome.lane], offset = columns[DATA.genome.offset], tone = columns[DATA.genome.tone];
  const pos = columns[DATA.pos], value = columns[DATA.value];
  const word = (coded, i) => coded.names[columns[coded.codes][i]];
  // Plotly reads a few HTML tags in its texts; names have none.
  const plain = (text) => text.replace(/&/g, "&amp;").replace(/</g, "&lt;").replace(/>/g, "&gt;");

  function number(v) {
    if (!Number.isFinite(v)) return "not a number";
    const size = Math.abs(v);
    const text = size !== 0 && (size < 1e-3 || size >= 1e6) ? v.toExponential(3) : v.toPrecision(4);
    return text.replace(/-/g, "−");
  }
  function pValue(negLog) {
    if (!Number.isFinite(negLog)) return "not a number";
    let power = Math.floor(-negLog);
    let digits = Math.pow(10, -negLog - power).toFixed(2);
    if (digits === "10.00") { digits = "1.00"; power += 1; }
    return power > -3 ? Math.pow(10, -negLog).toPrecision(3) : digits + "e−" + -power;
  }
  function told(i) {
    const lines = [
      "<b>" + plain(DATA.id[i]) + "</b>",
      plain(word(DATA.chrom, i)) + ":" + pos[i].toLocaleString("en-US") +
        "  A1 " + plain(word(DATA.a1, i)) + ", A2 " + plain(word(DATA.a2, i)),
      DATA.yLabel + ": " + number(value[i]),
    ];
    for (const fact of DATA.facts) {
      const v = columns[fact.values][i];
      lines.push(fact.name + ": " + (fact.p ? pValue(v) : number(v)) +
        (fact.sd === null ? "" : ", posterior sd " + number(columns[fact.sd][i])) + (fact.unit ? " " + fact.unit : ""));
    }
    return lines.join("<br>");
  }

  function canWebGL() {
    try {
      const gl = document.createElement("canvas").getContext("webgl");
      return Boolean(gl);
    } catch (error) {
      return false;
    }
  }
  const kind = n > 20000 && canWebGL() ? "scattergl" : "scatter";
  const traces = DATA.colours.tones.map(function (colour, k) {
    const x = [], y = [], text = [];
    for (let i = 0; i < n; i++) {
      if (tone[i] !== k) continue;
      x.push(lanes[lane[i]].start + offset[i]);
      y.push(value[i]);
      text.push(told(i));
    }
    return {
      type: kind, mode: "markers", x, y, text, hovertemplate: "%{text}<extra></extra>",
      marker: { color: colour, size: n > 3000 ? 4 : 6, opacity: 1 },
      hoverlabel: { bgcolor: "#fff", bordercolor: colour, align: "left",
                    font: { color: "#202020", size: 12, family: "DejaVu Sans, Verdana, Arial, sans-serif" } },
    };
  }).filter((trace) => trace.x.length);

  const ruler = document.createElement("canvas").getContext("2d");
  ruler.font = "12px DejaVu Sans, Verdana, Arial, sans-serif";

  // Names of the lanes in view, those that fit; positions where one chromosome alone is in view.
  function ticks(from, to, width) {
    const seen = lanes.filter((each) => each.stop > from && each.start < to);
    if (seen.length === 1 && seen[0].step) return positions(seen[0], from, to, width);
    const tickvals = [], ticktext = [];
    let free = -Infinity;
    for (const each of seen.length ? seen : lanes) {
      const middle = (Math.max(each.start, from) + Math.min(each.stop, to)) / 2;
      const at = (middle - from) / (to - from) * width, half = ruler.measureText(each.name).width / 2 + 6;
      if (at - half < free || at - half < -30 || at + half > width + 30) continue;
      tickvals.push(middle);
      ticktext.push(plain(each.name));
      free = at + half;
    }
    return { tickvals, ticktext, ticks: "", title: "chromosome" };
  }
  function positions(each, from, to, width) {
    const base = (x) => each.first + (x - each.start) * each.step;
    const low = base(from), high = base(to);
    const most = Math.max(2, Math.floor(width / 90));
    let step = Math.pow(10, Math.floor(Math.log10((high - low) / most)));
    for (const times of [1, 2, 5, 10]) {
      if ((high - low) / (step * times) <= most) { step *= times; break; }
    }
    step = Math.max(1, step);
    const mega = high - low >= 1e5, unit = mega ? 1e6 : 1e3;
    const digits = Math.max(0, -Math.floor(Math.log10(step / unit) + 1e-9));
    const tickvals = [], ticktext = [];
    for (let p = Math.ceil(Math.max(low, 0) / step) * step; p <= high; p += step) {
      tickvals.push(each.start + (p - each.first) / each.step);
      ticktext.push((p / unit).toFixed(digits));
    }
    const name = (each.name.length < 4 ? "chromosome " : "") + plain(each.name);
    return { tickvals, ticktext, ticks: "outside", title: "position on " + name + (mega ? " (Mb)" : " (kb)") };
  }

  const whole = [lanes[0].start, lanes[lanes.length - 1].stop];
  const margin = 0.01 * (whole[1] - whole[0]) || 1;
  const layout = {
    margin: { l: 56, r: 14, t: 34, b: 48 }, showlegend: false, hovermode: "closest", dragmode: "zoom",
    font: { family: "DejaVu Sans, Verdana, Arial, sans-serif", size: 12, color: "#202020" },
    plot_bgcolor: "#fff", paper_bgcolor: "#fff",
    xaxis: { range: [whole[0] - margin, whole[1] + margin], showgrid: false, zeroline: false, tickmode: "array",
             tickangle: 0, showline: true, linecolor: "#404040", title: { text: "chromosome", standoff: 8 } },
    yaxis: { range: DATA.range, zeroline: DATA.signed, zerolinecolor: "#404040", gridcolor: "#ececec", showline: true,
             linecolor: "#404040", automargin: true, title: { text: DATA.yLabel, standoff: 8 } },
    shapes: DATA.thresholds.map((line) => ({
      type: "line", xref: "paper", x0: 0, x1: 1, yref: "y", y0: line.height, y1: line.height,
      line: { color: DATA.colours.threshold, width: 1.2, dash: "dash" },
    })),
    annotations: DATA.thresholds.map((line) => ({
      text: plain(line.text), xref: "paper", x: 1, xanchor: "right", yref: "y", y: line.height, yanchor: "bottom",
      showarrow: false, font: { color: DATA.colours.threshold, size: 12 }, bgcolor: "rgba(255,255,255,.75)",
    })),
  };
  const config = { responsive: true, displaylogo: false, doubleClick: "reset", typesetMath: false,
                   modeBarButtons: [["toImage", "zoom2d", "pan2d", "zoomIn2d", "zoomOut2d", "resetScale2d"]],
                   toImageButtonOptions: { filename: "manhattan", scale: 2 } };

  let busy = false, last = "";
  function name() {
    const axis = plot._fullLayout.xaxis;
    const { tickvals, ticktext, ticks: marks, title } = ticks(axis.range[0], axis.range[1], axis._length);
    const now = JSON.stringify([tickvals, ticktext, title]);
    if (busy || now === last) return;
    busy = true;
    last = now;
    Plotly.relayout(plot, { "xaxis.tickvals": tickvals, "xaxis.ticktext": ticktext, "xaxis.ticks": marks,
                            "xaxis.title.text": title }).then(function () { busy = false; });
  }
  Plotly.newPlot(plot, traces, layout, config).then(function () {
    plot.on("plotly_relayout", name);
    window.addEventListener("resize", function () { setTimeout(name, 300); });
    name();
    plot.dataset.kind = kind;
    plot.dataset.ready = "yes";
  });
})();
