const test = require("node:test");
const assert = require("node:assert");
const { total } = require("./cart.js");
test("an empty cart costs nothing", () => assert.equal(total([]), 0));
test("a missing cart costs nothing", () => assert.equal(total(undefined), 0));
