// The sum of a linked list.
exports.sum = (node) => (node ? node.value + exports.sum(node.next) : 0);
