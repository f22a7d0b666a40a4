// Truth for Ruby from Ruby's own parser. Needs node and the npm package @ruby/prism.
// One line of JSON in ({path, text}), one out ({symbols, trouble}); see read_outside.py.
//
// Definitions: modules, classes, methods (also `def self.x`, under their own name) and assigned constants.
// `class << self` and blocks qualify no name. Comments, layout, the quotes of a string, commas behind the last
// element and parentheses around one expression or arguments do not count; `do` or braces, `and` or `&&`, and a
// trailing or a leading `if` do. In a shape, a call with a receiver other than `self` keeps its name.
import crypto from "node:crypto";
import { pathToFileURL } from "node:url";
import path from "node:path";
import readline from "node:readline";

const home = path.join(process.env.NODE_PATH, "@ruby", "prism", "src", "index.js");
const { loadPrism } = await import(pathToFileURL(home).href);
const parse = await loadPrism();
const BLANK = "\u00b7";
const digest = (text) => crypto.createHash("sha256").update(text).digest("hex").slice(0, 20);
const SPELLED = new Set(["openingLoc", "operatorLoc", "callOperatorLoc", "endKeywordLoc", "messageLoc"]);
const OPTIONS = new Set(["RegularExpressionNode", "InterpolatedRegularExpressionNode", "RangeNode", "FlipFlopNode"]);
const QUOTED = /String|Symbol|Regular|Array|XString|Embedded/;

class Dump {
  constructor(bytes, own) { this.bytes = bytes; this.own = own; this.out = []; }
  slice(at) { return this.bytes.subarray(at.startOffset, at.startOffset + at.length).toString(); }

  node(node) {
    const type = node.constructor.name;
    if (type === "ParenthesesNode") {
      const inner = node.body && node.body.body;
      if (inner && inner.length === 1) return this.node(inner[0]);
    }
    const other = type === "CallNode" && node.receiver && node.receiver.constructor.name !== "SelfNode";
    this.out.push("(" + type);
    if (OPTIONS.has(type)) this.out.push("/" + (type.includes("Regular") ? this.slice(node.closingLoc).slice(1) : this.slice(node.operatorLoc)));
    for (const key of Object.keys(node)) {
      const value = node[key];
      if (key === "location" || key === "nodeID" || key.startsWith("flags") || key === "depth") continue;
      if (key.endsWith("Loc")) {
        if (value && SPELLED.has(key) && !(key === "openingLoc" && (QUOTED.test(type) || type === "CallNode"))) this.out.push(" " + key + (other ? this.slice(value) : this.text(this.slice(value))));
      } else if (other && key === "name") this.out.push(" name=" + JSON.stringify(value));
      else this.value(key, value);
    }
    this.out.push(")");
    return undefined;
  }
  value(key, value) {
    if (value === null || value === undefined || typeof value === "function") return;
    if (key === "locals") return;
    if (Array.isArray(value)) {
      this.out.push(" " + key + "[");
      for (const one of value) this.value("", one);
      this.out.push("]");
    } else if (typeof value === "object" && value.location) {
      this.out.push(" " + key + ":");
      this.node(value);
    } else if (typeof value === "object" && "value" in value) this.out.push(" " + key + "=" + JSON.stringify(this.text(value.value)));
    else if (typeof value === "bigint") this.out.push(" " + value);
    else this.out.push(" " + key + "=" + JSON.stringify(typeof value === "string" ? this.text(value) : value));
  }
  text(text) { return this.own && text === this.own ? BLANK : text; }
}

function symbolsOf(root, bytes) {
  const starts = [0];
  for (let at = 0; at < bytes.length; at++) if (bytes[at] === 10) starts.push(at + 1);
  const line = (offset) => {
    let low = 0, high = starts.length;
    while (high - low > 1) { const middle = (low + high) >> 1; if (starts[middle] <= offset) low = middle; else high = middle; }
    return low + 1;
  };
  const found = [];
  const add = (node, name, kind, own) => {
    const whole = new Dump(bytes, ""), blank = new Dump(bytes, own);
    whole.node(node); blank.node(node);
    const at = node.location;
    found.push([name, kind, line(at.startOffset), line(at.startOffset + at.length - 1), digest(whole.out.join("")),
      digest(blank.out.join("")), true]);
  };
  const visit = (node, prefix) => {
    if (!node) return;
    const type = node.constructor.name;
    let inner = prefix;
    if (type === "ModuleNode" || type === "ClassNode") {
      const name = new Dump(bytes, "").slice(node.constantPath.location).replace(/^::/, "").replace(/::/g, ".");
      add(node, prefix + name, type === "ClassNode" ? "class" : "module", name.split(".").pop());
      inner = prefix + name + ".";
    } else if (type === "DefNode") {
      add(node, prefix + node.name, "method", node.name);
      inner = prefix + node.name + ".";
    } else if (type === "ConstantWriteNode") {
      add(node, prefix + node.name, "const", node.name);
      inner = prefix + node.name + ".";
    }
    for (const child of node.compactChildNodes()) visit(child, inner);
  };
  visit(root, "");
  return found;
}

readline.createInterface({ input: process.stdin, terminal: false }).on("line", (row) => {
  const asked = JSON.parse(row);
  let answer = { symbols: [], trouble: "" };
  try {
    const bytes = Buffer.from(asked.text);
    const result = parse(asked.text);
    if (result.errors.length) answer.trouble = String(result.errors[0].message);
    else answer.symbols = symbolsOf(result.value, bytes);
  } catch (error) {
    answer = { symbols: [], trouble: String(error) };
  }
  process.stdout.write(JSON.stringify(answer) + "\n");
});
