import { Ban, ChevronDown, SlidersHorizontal, X } from 'lucide-react'
import { type ReactElement, type ReactNode, useCallback, useEffect, useRef, useState } from 'react'
import { useResolvedPath, useSearchParams } from 'react-router'
import { Button, IconButton } from './button.tsx'
import { changedFilters, type FilterValue, toggled } from './changed-filters.ts'
import { classNames } from './class-names.ts'
import { Select, TextInput } from './field.tsx'
import { latePart } from './late-part.tsx'
import styles from './layout.module.css'
import { Menu, MenuCheckItem, MenuSeparator } from './menu.tsx'

export type Filters<Name extends string> = {
  /** The filters that are set, as lists, for an API query. */
  values: Readonly<Partial<Record<Name, string[]>>>
  first(name: Name): string
  set(name: Name, value: FilterValue): void
  setAll(changes: ReadonlyArray<readonly [Name, FilterValue]>): void
  clear(): void
  isSet: boolean
  /** Values in the URL that the filters do not have, such as `status=bogus`. They have no effect. */
  ignored: readonly string[]
}

/**
 * Keeps filters in the URL, so links contain them and the Back button undoes them.
 * @param accepted - The values that filters accept. Filters without an entry accept any text.
 */
export function useFilters<const Name extends string>(
  names: readonly Name[],
  accepted?: Readonly<Partial<Record<Name, RegExp>>>,
): Filters<Name> {
  const [params, setParams] = useSearchParams()
  const values: Partial<Record<Name, string[]>> = {}
  const ignored: string[] = []
  for (const name of names) {
    for (const value of params.getAll(name).filter(Boolean)) {
      if (accepted?.[name]?.test(value) ?? true) values[name] = [...(values[name] ?? []), value]
      else ignored.push(`${name}=${value}`)
    }
  }
  const setAll = useCallback(
    // React shows a new URL later, so a quick second change must not begin with the shown one.
    (changes: ReadonlyArray<readonly [Name, FilterValue]>) => setParams(changedFilters(location.search, changes)),
    [setParams],
  )
  const set = useCallback((name: Name, value: FilterValue) => setAll([[name, value]]), [setAll])
  return {
    values,
    set,
    setAll,
    first: name => values[name]?.[0] ?? '',
    clear: () => setAll(names.map(name => [name, ''])),
    isSet: Object.keys(values).length > 0 || ignored.length > 0,
    ignored,
  }
}

const SavedFilters = latePart(async () => (await import('./saved-filters.tsx')).SavedFilters)

type FilterBarProps<Name extends string> = {
  filters: Filters<Name>
  /** The search field, or the filter that it sets. It stays visible on narrow screens, where the others open with a button. */
  search: { name: Name; label: string } | ReactElement
  children?: ReactNode
}

/** The filters of a list, from `useFilters`. */
export function FilterBar<Name extends string>({ filters, search, children }: FilterBarProps<Name>) {
  const [isOpen, setIsOpen] = useState(false)
  const list = useResolvedPath('.').pathname // each workspace has its own lists
  const count = Object.keys(filters.values).length
  return (
    <search className={styles.filters}>
      {'label' in search ? <SearchFilter filters={filters} {...search} isPageSearch /> : search}
      {children && (
        <Button
          className={styles.more}
          icon={<SlidersHorizontal size={15} />}
          aria-expanded={isOpen}
          onClick={() => setIsOpen(!isOpen)}
        >
          Filters{count > 0 && ` (${count})`}
        </Button>
      )}
      <div className={classNames(styles.choices, isOpen && styles.open)}>
        {children}
        {filters.isSet && (
          <Button kind="quiet" icon={<X size={14} />} onClick={filters.clear}>
            Clear
          </Button>
        )}
        <SavedFilters key={list} filters={filters} list={list} />
      </div>
      {filters.ignored.length > 0 && (
        <p role="status" className={styles.ignored}>
          Ignored, because there is no such filter value: {filters.ignored.join(', ')}
        </p>
      )}
    </search>
  )
}

type FilterProps<Name extends string> = { filters: Pick<Filters<Name>, 'first' | 'set'>; name: Name; label: string }

/**
 * A field that filters as the user types.
 * @param isPageSearch - Whether it is the search field of the page. The key `/` focuses it.
 */
export function SearchFilter<Name extends string>({
  filters,
  name,
  label,
  isPageSearch,
}: FilterProps<Name> & { isPageSearch?: boolean }) {
  const applied = filters.first(name)
  // What the user types, until the URL has it. A text from the URL must never be set again: on a slow device, that would come
  // after the next change of the URL.
  const [typed, setTyped] = useState<string | null>(null)
  const own = useRef<string[]>([])
  const { set } = filters
  useEffect(() => {
    // The URL returns what this field has set, possibly after the user typed more and the field has set that too.
    const at = own.current.indexOf(applied)
    setTyped(typed => (at === -1 || typed === applied ? null : typed))
    own.current = at === -1 ? [] : own.current.slice(at + 1)
  }, [applied])
  useEffect(() => {
    if (typed === null || typed === applied) return
    const timer = setTimeout(() => {
      own.current.push(typed)
      set(name, typed)
    }, 250)
    return () => clearTimeout(timer)
  }, [typed, applied, set, name])
  return (
    <div className={styles.search}>
      <TextInput
        type={isPageSearch ? 'search' : 'text'}
        aria-label={label}
        placeholder={label}
        aria-keyshortcuts={isPageSearch ? '/' : undefined}
        value={typed ?? applied}
        onChange={event => setTyped(event.target.value)}
      />
    </div>
  )
}

export type Option = { value: string; label: string }

/** A select whose first option means all. */
export function SelectFilter<Name extends string>(
  props: FilterProps<Name> & { all: string; options: readonly Option[] },
) {
  const { filters, name, label, all, options } = props
  return (
    <Select
      aria-label={label}
      value={filters.first(name)}
      onChange={event => filters.set(name, event.target.value)}
      options={[{ value: '', label: all }, ...options]}
    />
  )
}

type MultiFilterProps<Name extends string> = {
  filters: Pick<Filters<Name>, 'values' | 'setAll'>
  name: Name
  /** The filter that leaves out values: the menu can then exclude the chosen ones. */
  exclude?: Name
  label: string
  all: string
  options: readonly Option[]
}

// More labels would make the button wider than the field beside it.
const maxLabels = 2

/** A menu for choosing several values. An empty choice means all. */
export function MultiFilter<Name extends string>(props: MultiFilterProps<Name>) {
  const { filters, name, exclude, label, all, options } = props
  const included = filters.values[name] ?? []
  const excluded = (exclude && filters.values[exclude]) ?? []
  const [isNot, setIsNot] = useState(false)
  const isExcluding = included.length > 0 === excluded.length > 0 ? isNot : excluded.length > 0
  const chosen = isExcluding ? excluded : included
  const unlisted = [...included, ...excluded].filter(value => !options.some(option => option.value === value))
  const choices = [...options, ...unlisted.map(value => ({ value, label: value }))]
  const textOf = (values: readonly string[]) => {
    const labels = choices.flatMap(option => (values.includes(option.value) ? [option.label] : []))
    return labels.length > maxLabels ? `${labels.length} selected` : labels.join(', ')
  }
  const texts = [textOf(included), excluded.length > 0 && `not ${textOf(excluded)}`].filter(Boolean)
  const text = texts.join(', ') || all
  const toggle = (value: string) => filters.setAll([[isExcluding && exclude ? exclude : name, toggled(value)]])
  const invert = (other: Name) => {
    setIsNot(!isExcluding)
    const all = [...included, ...excluded]
    filters.setAll([
      [name, isExcluding ? all : []],
      [other, isExcluding ? [] : all],
    ])
  }
  return (
    <Menu
      trigger={
        <Button className={styles.multi} aria-label={`${label}: ${text}`}>
          <span>{text}</span>
          <ChevronDown size={14} />
        </Button>
      }
    >
      {exclude && (
        <>
          <MenuCheckItem isChecked={isExcluding} onChange={() => invert(exclude)}>
            Exclude
          </MenuCheckItem>
          <MenuSeparator />
        </>
      )}
      {choices.map(option => (
        <MenuCheckItem
          key={option.value}
          isChecked={chosen.includes(option.value)}
          onChange={() => toggle(option.value)}
        >
          {option.label}
        </MenuCheckItem>
      ))}
    </Menu>
  )
}

type ChipsProps<Name extends string> = {
  filters: Pick<Filters<Name>, 'values' | 'setAll'>
  name: Name
  exclude?: Name | undefined
  label: string
  /** Returns the text of a value. Default: the value. */
  shown?(value: string): ReactNode
}

/** The values of a filter that a search or a link has set, each with buttons to remove it and to exclude it. */
export function Chips<Name extends string>(props: ChipsProps<Name>) {
  const { filters, name, exclude, label, shown = value => <code>{value}</code> } = props
  const { values, setAll } = filters
  return (exclude ? [name, exclude] : [name]).flatMap(filter => {
    const given = values[filter] ?? []
    const text = filter === exclude ? `${label} not` : label
    return given.map(value => {
      const rest = given.filter(one => one !== value)
      const other = filter === exclude ? name : exclude
      return (
        <span key={`${filter} ${value}`} className={styles.chip}>
          <span>
            {text} {shown(value)}
          </span>
          {other && (
            <IconButton
              size="small"
              label={other === exclude ? `Exclude ${label} ${value}` : `Show only ${label} ${value}`}
              icon={<Ban size={13} />}
              onClick={() =>
                setAll([
                  [filter, rest],
                  // The API takes one name.
                  [other, other === 'name' ? value : [...(values[other] ?? []), value]],
                ])
              }
            />
          )}
          <IconButton
            size="small"
            label={`Remove filter: ${text} ${value}`}
            icon={<X size={14} />}
            onClick={() => setAll([[filter, rest]])}
          />
        </span>
      )
    })
  })
}
