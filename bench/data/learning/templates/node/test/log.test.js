"use strict";

const test = require("node:test");
const assert = require("node:assert/strict");
const { formatLine } = require("../src/log.js");

test("an error line begins with its level", () => {
  console.log(formatLine("ERROR", "disk is full"));
  assert.equal(formatLine("ERROR", "disk is full"), "ERROR disk is full");
});

test("an unknown level throws an error", () => {
  assert.throws(() => formatLine("FATAL", "x"), RangeError);
});
