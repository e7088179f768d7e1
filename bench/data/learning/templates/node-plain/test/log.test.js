"use strict";

const assert = require("node:assert/strict");
const { formatLine } = require("../src/log.js");

exports["an error line begins with its level"] = () => {
  assert.equal(formatLine("ERROR", "disk is full"), "ERROR disk is full");
};

exports["an unknown level throws an error"] = () => {
  assert.throws(() => formatLine("FATAL", "x"), RangeError);
};
