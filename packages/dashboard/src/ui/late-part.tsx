import { type ComponentType, useEffect, useState } from 'react'
import { readStored, store } from './browser-storage.ts'

/**
 * Returns a component whose script is loaded when it is first shown, because pages can be shown without it. It is empty
 * until then. After an error, it tries again when it is shown again.
 */
export function latePart<Props extends object>(load: () => Promise<ComponentType<Props>>): ComponentType<Props> {
  let Loaded: ComponentType<Props> | undefined
  return function LatePart(props: Props) {
    const [, setIsLoaded] = useState(false)
    useEffect(() => {
      if (Loaded) return
      load().then(part => {
        Loaded = part
        setIsLoaded(true)
      }, reloadIfReplaced)
    }, [])
    return Loaded ? <Loaded {...props} /> : null
  }
}

const key = 'belfry.reloaded'
// A script that is still missing after a reload is not missing because of a deployment.
const minReloadIntervalMs = 30_000

/** Reloads the page once, if a script is missing because a deployment has replaced it, and not because of the network. */
export function reloadIfReplaced(): void {
  if (!navigator.onLine) return
  if (Date.now() - Number(readStored(key, 'sessionStorage')) < minReloadIntervalMs) return
  // Where storage is blocked, a reload could repeat forever.
  if (store(key, String(Date.now()), 'sessionStorage')) window.location.reload()
}
