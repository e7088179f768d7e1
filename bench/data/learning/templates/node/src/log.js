"use strict";

const LEVELS = ["DEBUG", "INFO", "WARN", "ERROR"];

function formatLine(level, text) {
  if (!LEVELS.includes(level)) throw new RangeError(`unknown level: ${level}`);
  return `${level} ${text}`;
}

module.exports = { LEVELS, formatLine };
