"use strict";
// Runs every test in this folder. A test that throws ends the run.

const fs = require("node:fs");
const path = require("node:path");

const excluded = fs.readFileSync(path.join(__dirname, "exclude.txt"), "utf8").split("\n");
const files = fs.readdirSync(__dirname).filter((name) => name.endsWith(".test.js") && !excluded.includes(name));
for (const name of files.sort()) {
  const tests = require(path.join(__dirname, name));
  for (const [title, run] of Object.entries(tests)) {
    if (title.startsWith("skip ")) continue;
    run();
    console.log(`ok ${name}: ${title}`);
  }
}
