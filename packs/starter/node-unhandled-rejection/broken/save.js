// Saves all records, and tells how many could not be saved.
exports.saveAll = async (records, save) => {
  let failed = 0;
  for (const record of records) {
    try {
      save(record);
    } catch {
      failed += 1;
    }
  }
  return failed;
};
