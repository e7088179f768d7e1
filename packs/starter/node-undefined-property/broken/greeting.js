// The first line of a letter about an order.
exports.greeting = (order) => `Dear ${order.customer.name},`;
