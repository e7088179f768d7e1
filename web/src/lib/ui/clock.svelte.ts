/** What time it is, to the half minute: every time on a page goes on by itself. */
class Clock {
	now = $state(Date.now());
	#started = setInterval(() => (this.now = Date.now()), 30_000);
}

export const clock = new Clock();
