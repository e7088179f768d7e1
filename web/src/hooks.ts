import type { Reroute } from '@sveltejs/kit';
import { decodeOrNull } from '$lib/ui/address';

/** An address whose escapes are none leads to no page. Without this the router would show nothing at all. */
export const reroute: Reroute = ({ url }) => (decodeOrNull(url.pathname) === null ? '/malformed' : undefined);
