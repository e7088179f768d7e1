// Whether an offer can still be taken.
exports.isOpen = (offer) => new Date() < new Date(offer.until);
