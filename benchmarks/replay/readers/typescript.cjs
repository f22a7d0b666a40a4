// Truth for JavaScript and TypeScript from the compiler's own parser. Needs node and the npm package typescript.
// One line of JSON in ({path, text}), one out ({symbols, trouble}); see read_outside.py.
"use strict";
const crypto = require("crypto");
const readline = require("readline");
const ts = require("typescript");

const BLANK = "\u00b7";
const SKIPPED = new Set([
  "pos", "end", "flags", "parent", "id", "jsDoc", "jsDocCache", "symbol", "localSymbol", "locals", "original",
  "emitNode", "transformFlags", "modifierFlagsCache", "nextContainer", "flowNode", "endFlowNode", "returnFlowNode",
  "multiLine", "singleQuote", "hasExtendedUnicodeEscape", "isUnterminated", "numericLiteralFlags", "templateFlags",
  "containsOnlyTriviaWhiteSpaces", "hasTrailingComma", "escapedText", "kind", "rawText", "endOfFileToken",
]);

const BODILESS = new Set([
  ts.SyntaxKind.FunctionDeclaration, ts.SyntaxKind.MethodDeclaration, ts.SyntaxKind.Constructor,
  ts.SyntaxKind.GetAccessor, ts.SyntaxKind.SetAccessor,
]);

const scriptKind = (path) =>
  /\.tsx$/.test(path) ? ts.ScriptKind.TSX : /\.[mc]?ts$/.test(path) ? ts.ScriptKind.TS : ts.ScriptKind.JSX;

const digest = (text) => crypto.createHash("sha256").update(text).digest("hex").slice(0, 20);

// The text of JSX as React reads it: lines trimmed, empty ones gone, joined by one space.
function jsxText(text) {
  const lines = text.split(/\r\n|\n|\r/);
  let last = 0;
  lines.forEach((line, at) => { if (/[^ \t]/.test(line)) last = at; });
  let out = "";
  lines.forEach((line, at) => {
    let kept = line.replace(/\t/g, " ");
    if (at !== 0) kept = kept.replace(/^[ ]+/, "");
    if (at !== lines.length - 1) kept = kept.replace(/[ ]+$/, "");
    if (kept) out += at === last ? kept : kept + " ";
  });
  return out;
}

function jsxChildren(children, own, out) {
  let text = "";
  const flush = () => { if (text) out.push("jsx:" + JSON.stringify(text)); text = ""; };
  for (const child of children) {
    if (child.kind === ts.SyntaxKind.JsxText) text += jsxText(child.text);
    else if (child.kind === ts.SyntaxKind.JsxExpression && child.expression && ts.isStringLiteral(child.expression)) {
      text += child.expression.text;
    } else if (child.kind === ts.SyntaxKind.JsxExpression && !child.expression) continue;
    else { flush(); dump(child, own, out); }
  }
  flush();
}

// A property's name is no mention of the definition; a quoted key that could be bare is the same key.
function isPropertyName(node) {
  const up = node.parent;
  return up && up.name === node && (ts.isPropertyAccessExpression(up) || ts.isPropertyAssignment(up) ||
    ts.isPropertySignature(up) || ts.isMethodDeclaration(up) || ts.isPropertyDeclaration(up));
}

function dump(node, own, out, isOwn) {
  if (node.kind === ts.SyntaxKind.ParenthesizedExpression) return dump(node.expression, own, out);
  if (node.kind === ts.SyntaxKind.ParenthesizedType) return dump(node.type, own, out);
  if (node.kind === ts.SyntaxKind.SemicolonClassElement || node.kind === ts.SyntaxKind.EmptyStatement &&
      node.parent && (ts.isBlock(node.parent) || ts.isSourceFile(node.parent))) return undefined;
  const up = node.parent;
  if (ts.isStringLiteral(node) && up && up.name === node && /^[A-Za-z_$][\w$]*$/.test(node.text)) {
    out.push("(" + ts.SyntaxKind.Identifier + " text:" + JSON.stringify(node.text) + ")");
    return undefined;
  }
  out.push("(" + node.kind);
  if (ts.isVariableDeclarationList(node)) out.push("/" + (node.flags & ts.NodeFlags.BlockScoped));
  if (node.flags & ts.NodeFlags.OptionalChain) out.push("/?.");
  if (ts.isIdentifier(node) || ts.isPrivateIdentifier(node)) {
    const same = own && node.text === own && (isOwn || !isPropertyName(node));
    out.push(" text:" + JSON.stringify(same ? BLANK : node.text));
  } else if (ts.isJsxElement(node) || ts.isJsxFragment(node)) {
    dump(node.openingElement || node.openingFragment, own, out);
    jsxChildren(node.children, own, out);
  } else fields(node, own, out);
  out.push(")");
  return undefined;
}

function fields(node, own, out) {
  if (node.rawText !== undefined) out.push(" raw:" + JSON.stringify(node.rawText));
  for (const key of Object.keys(node).sort()) {
    const value = node[key];
    if (SKIPPED.has(key) || value === undefined || typeof value === "function") continue;
    if (key === "modifiers" && value && value.length === 0) continue;
    if (Array.isArray(value)) {
      out.push(" " + key + "[");
      for (const one of value) if (one && one.kind !== undefined) dump(one, own, out);
      out.push("]");
    } else if (value && typeof value === "object") {
      if (value.kind === undefined) continue;
      out.push(" " + key + ":");
      dump(value, own, out, key === "name" && node === rootOf.node);
    } else out.push(" " + key + "=" + JSON.stringify(value === null ? null : value));
  }
}

const rootOf = { node: null };

function text(node, named, own) {
  const out = [];
  rootOf.node = named;
  dump(node, own, out);
  return out.join("");
}

function nameOf(name) {
  if (!name) return "";
  if (ts.isIdentifier(name) || ts.isPrivateIdentifier(name)) return name.text;
  if (ts.isStringLiteral(name) || ts.isNumericLiteral(name)) return name.text;
  return "";
}

// A name for another module is an import, not a definition.
function isImport(value) {
  while (value && (ts.isPropertyAccessExpression(value) || ts.isCallExpression(value))) {
    if (ts.isCallExpression(value) && ts.isIdentifier(value.expression) && value.expression.text === "require") return true;
    value = value.expression;
  }
  return false;
}

function symbolsOf(file) {
  const found = [];
  const line = (at) => file.getLineAndCharacterOfPosition(at).line + 1;
  const add = (node, named, name, kind, own) => {
    found.push([name, kind, line(node.getStart(file)), line(node.end), digest(text(node, named, "")),
      digest(text(node, named, own)), !BODILESS.has(node.kind) || Boolean(node.body)]);
  };
  const kinds = new Map([
    [ts.SyntaxKind.FunctionDeclaration, "function"], [ts.SyntaxKind.ClassDeclaration, "class"],
    [ts.SyntaxKind.InterfaceDeclaration, "type"], [ts.SyntaxKind.TypeAliasDeclaration, "type"],
    [ts.SyntaxKind.EnumDeclaration, "type"], [ts.SyntaxKind.ModuleDeclaration, "module"],
    [ts.SyntaxKind.MethodDeclaration, "method"], [ts.SyntaxKind.GetAccessor, "method"],
    [ts.SyntaxKind.SetAccessor, "method"], [ts.SyntaxKind.PropertyDeclaration, "property"],
    [ts.SyntaxKind.Constructor, "method"],
  ]);
  const visit = (node, prefix, depth) => {
    const kind = kinds.get(node.kind);
    const inObject = node.parent && ts.isObjectLiteralExpression(node.parent);
    const own = node.kind === ts.SyntaxKind.Constructor ? "constructor" : nameOf(node.name);
    if (kind && own && !(inObject && !prefix)) {
      add(node, node, prefix + own, kind, node.kind === ts.SyntaxKind.Constructor ? "" : own);
      ts.forEachChild(node, (child) => visit(child, prefix + own + ".", depth + (kind === "function" || kind === "method")));
      return;
    }
    if (ts.isVariableStatement(node)) {
      const list = node.declarationList.declarations;
      for (const one of list) {
        const variable = nameOf(one.name);
        const value = one.initializer;
        const isFunction = value && (ts.isArrowFunction(value) || ts.isFunctionExpression(value));
        if (variable && !isImport(value) && (depth === 0 || isFunction)) {
          add(list.length === 1 ? node : one, one, prefix + variable, isFunction ? "function" : "const", variable);
          const inner = value && (ts.isObjectLiteralExpression(value) || ts.isClassExpression(value) || isFunction);
          if (inner) ts.forEachChild(value, (child) => visit(child, prefix + variable + ".", depth + (isFunction ? 1 : 0)));
        }
      }
      return;
    }
    if (ts.isExpressionStatement(node) || ts.isCallExpression(node) || ts.isPropertyAssignment(node)) return;
    const inner = depth + (ts.isSourceFile(node.parent) && !ts.isModuleBlock(node) ? 1 : 0);
    ts.forEachChild(node, (child) => visit(child, prefix, inner));
  };
  ts.forEachChild(file, (child) => visit(child, "", 0));
  return found;
}

readline.createInterface({ input: process.stdin, terminal: false }).on("line", (row) => {
  const asked = JSON.parse(row);
  let answer = { symbols: [], trouble: "" };
  try {
    const file = ts.createSourceFile(asked.path, asked.text, ts.ScriptTarget.Latest, true, scriptKind(asked.path));
    if (file.parseDiagnostics.length) {
      answer.trouble = String(ts.flattenDiagnosticMessageText(file.parseDiagnostics[0].messageText, " "));
    } else answer.symbols = symbolsOf(file);
  } catch (error) {
    answer = { symbols: [], trouble: String(error) };
  }
  process.stdout.write(JSON.stringify(answer) + "\n");
});
