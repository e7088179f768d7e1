exports.total = items => items.reduce((sum, item) => sum + item.price, 0)
