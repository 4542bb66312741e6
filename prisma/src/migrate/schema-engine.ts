import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import * as glue from '@prisma/schema-engine-wasm/schema_engine_bg'

let loaded: Promise<typeof glue.SchemaEngine> | undefined

/** Loads Prisma's migration engine on first use. The entry of its package needs a bundler that imports WASM. */
export function loadSchemaEngine(): Promise<typeof glue.SchemaEngine> {
  loaded ??= instantiate()
  return loaded
}

async function instantiate(): Promise<typeof glue.SchemaEngine> {
  const script = createRequire(import.meta.url).resolve('@prisma/schema-engine-wasm/schema_engine_bg')
  const module = await WebAssembly.compile(await readFile(script.replace(/\.js$/, '.wasm')))
  const { exports } = await WebAssembly.instantiate(module, { './schema_engine_bg.js': hostFunctions() })
  glue.__wbg_set_wasm(exports)
  if (typeof exports.__wbindgen_start === 'function') exports.__wbindgen_start()
  return glue.SchemaEngine
}

// The engine never clears the timer of its lock. Without unref() it would keep the process alive for ten seconds.
function hostFunctions(): WebAssembly.ModuleImports {
  const setIdleTimeout = (callback: () => void, ms: number) => setTimeout(callback, ms >>> 0).unref()
  const named = Object.entries<WebAssembly.ImportValue>(glue)
  return Object.fromEntries(
    named.map(([name, host]) => [name, name.startsWith('__wbg_setTimeout') ? setIdleTimeout : host]),
  )
}
