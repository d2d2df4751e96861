// Checks GLB files with the Khronos validator: node gltf_validate.mjs [--modules FOLDER] FILE.glb...
//
// The npm package `gltf-validator` is looked for in FOLDER/node_modules, then where Node looks by itself, NODE_PATH
// included. Exit codes: 0 all files are clean, 1 a file has an error or a warning, 2 wrong use or no validator.
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { basename, resolve } from "node:path";

const SEVERITIES = ["error", "warning", "info", "hint"];

function parseArguments(words) {
  const files = [];
  let modules = null;
  for (let i = 0; i < words.length; i++) {
    if (words[i] === "--modules" && i + 1 < words.length) modules = words[++i];
    else if (words[i].startsWith("--")) return null;
    else files.push(words[i]);
  }
  return files.length > 0 ? { files, modules } : null;
}

function loadValidator(modules) {
  const starts = [import.meta.url];
  if (modules !== null) starts.unshift(resolve(modules, "start.js"));
  for (const start of starts) {
    try {
      return createRequire(start)("gltf-validator");
    } catch (error) {
      if (error.code !== "MODULE_NOT_FOUND") throw error;
    }
  }
  return null;
}

const options = parseArguments(process.argv.slice(2));
if (options === null) {
  console.error("usage: node gltf_validate.mjs [--modules FOLDER] FILE.glb...");
  process.exit(2);
}
const validator = loadValidator(options.modules);
if (validator === null) {
  console.error("gltf-validator not found: run `npm install --no-save gltf-validator` in a folder, give it by --modules");
  process.exit(2);
}

let failed = false;
for (const file of options.files) {
  let issues;
  try {
    // All messages: the default stops at a number and could hide an error behind many hints.
    const report = await validator.validateBytes(new Uint8Array(readFileSync(file)), {
      uri: basename(file),
      maxIssues: 0,
    });
    issues = report.issues;
  } catch (error) {
    console.log(`${file}: ${error}`);
    failed = true;
    continue;
  }
  const { numErrors, numWarnings, numInfos, numHints } = issues;
  console.log(`${file}: ${numErrors} errors, ${numWarnings} warnings, ${numInfos} infos, ${numHints} hints`);
  for (const message of issues.messages) {
    console.log(`  ${SEVERITIES[message.severity]} ${message.code} at ${message.pointer}: ${message.message}`);
  }
  if (numErrors > 0 || numWarnings > 0) failed = true;
}
process.exit(failed ? 1 : 0);
