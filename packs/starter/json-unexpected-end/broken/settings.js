const fs = require('node:fs/promises');
exports.load = async (path) => JSON.parse(await fs.readFile(path, 'utf8'));
// Saves what `change` makes of the settings, which it may load meanwhile.
exports.save = async (path, change) => {
  const file = await fs.open(path, 'w');
  await file.writeFile(JSON.stringify(await change()));
  await file.close();
};
