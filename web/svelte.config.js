import adapter from '@sveltejs/adapter-static';

/** @type {import('@sveltejs/kit').Config} */
export default {
	kit: {
		// Every address that is no file gets the same page, and the page finds out what to show.
		adapter: adapter({ pages: 'build', assets: 'build', fallback: 'index.html', precompress: true }),
		// By its name an open tab notices another program. The usual name is the time, and no two builds would be alike:
		// `scripts/pages` gives the sum of the sources instead.
		version: { name: process.env.CAPSID_PAGES ?? 'development' },
		csp: {
			mode: 'hash',
			directives: {
				'default-src': ['none'],
				'script-src': ['self'],
				// The hash is that of the hidden line which tells screen readers about a new page.
				'style-src': ['self', 'unsafe-hashes', 'sha256-S8qMpvofolR8Mpjy4kQvEm7m1q8clzU4dfDH0AmvZjo='],
				'img-src': ['self', 'data:'],
				'font-src': ['self'],
				'connect-src': ['self'],
				'worker-src': ['self'],
				'manifest-src': ['self'],
				'form-action': ['self'],
				'base-uri': ['none']
			}
		}
	}
};
