import { mount } from 'svelte';
import '../../app.css';
import Single from './Single.svelte';

mount(Single, { target: document.body });
