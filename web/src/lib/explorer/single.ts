import { mount } from 'svelte';
import '../../app.css';
import Single from './Single.svelte';
import { startAsWorker, startSingleEngine } from './startInPage';

if (typeof document === 'undefined') startAsWorker();
else void startSingleEngine().then((engine) => mount(Single, { target: document.body, props: { engine } }));
