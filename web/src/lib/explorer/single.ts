import { mount } from 'svelte';
import '../../app.css';
import Explorer from './Explorer.svelte';

mount(Explorer, { target: document.body });
