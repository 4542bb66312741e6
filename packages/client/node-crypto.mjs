// Replaces the global in the files for Node; see build.mjs.
import { webcrypto } from 'node:crypto'

export const nodeCrypto = webcrypto
