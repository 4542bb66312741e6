import type { ReactNode } from 'react'
import { DefinitionList } from '../ui/definition-list.tsx'
import { Dialog } from '../ui/dialog.tsx'

const shortcuts = [
  ['Command palette', <kbd key="k">Ctrl K or ⌘ K</kbd>],
  ['Search this page', <kbd key="s">/</kbd>],
  ['Select and open rows', <kbd key="r">↑ ↓ Enter</kbd>],
  ['Next and previous run of the log', <kbd key="j">J K</kbd>],
  ['Close dialog or panel', <kbd key="e">Esc</kbd>],
  ['Keyboard shortcuts', <kbd key="h">?</kbd>],
] as const

/** Lists the keyboard shortcuts. */
export function Shortcuts({ onClose }: { onClose(): void }): ReactNode {
  return (
    <Dialog isOpen onClose={onClose} title="Keyboard shortcuts">
      <DefinitionList rows={shortcuts} />
    </Dialog>
  )
}
