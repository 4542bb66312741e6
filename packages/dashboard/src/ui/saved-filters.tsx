import { Bookmark, BookmarkX, Check } from 'lucide-react'
import { type FormEvent, useState } from 'react'
import { parseStored, readStored, store } from './browser-storage.ts'
import { Button } from './button.tsx'
import { Dialog, DialogActions } from './dialog.tsx'
import { TextField } from './field.tsx'
import type { Filters } from './filter-bar.tsx'
import { Menu, MenuItem, MenuSeparator } from './menu.tsx'

type Saved = { name: string; query: string }

const maxSaved = 20

type SavedFiltersProps = { filters: Filters<string>; list: string }

/** The filters that the user has saved for a list in this browser. Another list needs another React key. */
export function SavedFilters({ filters, list }: SavedFiltersProps) {
  const key = `belfry.filters ${list}`
  const [saved, setSaved] = useState(() => readSaved(key))
  const [isNaming, setIsNaming] = useState(false)
  const pairs = Object.entries(filters.values).flatMap(([name, values]) => values?.map(value => [name, value]) ?? [])
  const query = new URLSearchParams(pairs).toString()
  const current = saved.find(one => sortedQuery(one.query) === sortedQuery(query))
  if (saved.length === 0 && query === '') return null
  const change = (next: readonly Saved[]) => {
    setSaved(next)
    store(key, JSON.stringify(next))
  }
  return (
    <>
      <Menu
        trigger={
          <Button kind="quiet" icon={<Bookmark size={14} />}>
            Saved filters
          </Button>
        }
      >
        {saved.map(one => (
          <MenuItem
            key={one.query}
            to={`?${one.query}`}
            icon={<Check size={15} visibility={one === current ? 'visible' : 'hidden'} />}
          >
            {one.name}
          </MenuItem>
        ))}
        {saved.length > 0 && query !== '' && <MenuSeparator />}
        {query !== '' && !current && (
          <MenuItem
            icon={<Bookmark size={15} />}
            refusal={saved.length < maxSaved ? null : `A list has at most ${maxSaved} saved filters.`}
            onSelect={() => setIsNaming(true)}
          >
            Save these filters…
          </MenuItem>
        )}
        {current && (
          <MenuItem icon={<BookmarkX size={15} />} onSelect={() => change(saved.filter(one => one !== current))}>
            Remove “{current.name}”
          </MenuItem>
        )}
      </Menu>
      {isNaming && (
        <NameDialog
          suggestion={pairs.map(([name, value]) => `${name?.replaceAll('_', ' ')}: ${value}`).join(', ')}
          onClose={() => setIsNaming(false)}
          onSave={name => {
            change([...saved, { name, query }])
            setIsNaming(false)
          }}
        />
      )}
    </>
  )
}

type NameDialogProps = { suggestion: string; onClose(): void; onSave(name: string): void }

function NameDialog({ suggestion, onClose, onSave }: NameDialogProps) {
  const [name, setName] = useState(suggestion)
  const save = (event: FormEvent) => {
    event.preventDefault()
    onSave(name.trim() || suggestion)
  }
  return (
    <Dialog isOpen onClose={onClose} title="Save filters" description="They are saved in this browser.">
      <form onSubmit={save}>
        <TextField label="Name" value={name} maxLength={80} onChange={event => setName(event.target.value)} />
        <DialogActions>
          <Button onClick={onClose}>Cancel</Button>
          <Button type="submit" kind="primary">
            Save
          </Button>
        </DialogActions>
      </form>
    </Dialog>
  )
}

/** Returns a query with its pairs in order. An earlier version may have saved them in another order. */
export function sortedQuery(query: string): string {
  const pairs = new URLSearchParams(query)
  pairs.sort()
  return pairs.toString()
}

function readSaved(key: string): readonly Saved[] {
  return (parseStored(readStored(key)) as Saved[] | null) ?? [] // stored above
}
