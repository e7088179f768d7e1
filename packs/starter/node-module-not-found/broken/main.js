import { total } from './total';
export const invoice = (prices) => `Total: ${total(prices)}`;
