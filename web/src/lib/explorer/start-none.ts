/** A page from disk is one script, and a browser starts no worker there. */
export function startWorker(): Worker | null {
	return null;
}
