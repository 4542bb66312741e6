import { CircleAlert } from 'lucide-react'
import { type ComponentProps, createContext, type ReactNode, useContext, useEffect, useId, useRef } from 'react'
import { classNames } from './class-names.ts'
import styles from './field.module.css'

/** The messages of the form around a field, by the names of its inputs. */
export const FieldErrorsContext = createContext<Readonly<Record<string, string>>>({})

/** Connects an input to the `Field` around it. */
const FieldContext = createContext<Pick<ComponentProps<'input'>, 'id' | 'aria-describedby' | 'aria-invalid'>>({})

type FieldProps = {
  label: ReactNode
  hint?: ReactNode
  error?: string | undefined
  isOptional?: boolean | undefined
  /** One input of this file. */
  children: ReactNode
}

export function Field({ label, hint, error, isOptional, children }: FieldProps) {
  const id = useId()
  const describedBy = classNames(hint != null && `${id}-hint`, error && `${id}-error`) || undefined
  return (
    <div className={styles.field}>
      <label className={styles.label} htmlFor={id}>
        {label} {isOptional && <span className={styles.optional}>(optional)</span>}
      </label>
      <FieldContext value={{ id, 'aria-describedby': describedBy, 'aria-invalid': error ? true : undefined }}>
        {children}
      </FieldContext>
      {hint != null && (
        <div id={`${id}-hint`} className={styles.hint}>
          {hint}
        </div>
      )}
      <FieldError id={`${id}-error`} error={error} />
    </div>
  )
}

/** The error of an input. The input refers to it by `id`. An error inside folded fields unfolds them. */
export function FieldError({ id, error }: { id: string; error: string | undefined }) {
  const element = useRef<HTMLDivElement>(null)
  useEffect(() => {
    const folded = error && element.current?.closest('details')
    if (folded) folded.open = true
  }, [error])
  if (!error) return null
  return (
    <div ref={element} id={id} className={styles.error}>
      <CircleAlert size={14} />
      {error}
    </div>
  )
}

/** Text of a program, such as a name or a pattern. Turns off the browser's spell check. */
type Mono = { isMono?: boolean }

export function TextInput(props: ComponentProps<'input'> & Mono) {
  return <input type="text" {...useInput(props)} />
}

function Textarea(props: ComponentProps<'textarea'> & Mono) {
  return <textarea {...useInput(props)} />
}

/** Returns the props of an input, with its look and its connection to the field around it. By default no browser completes it. */
function useInput<Props extends { className?: string | undefined }>({ isMono, className, ...props }: Props & Mono) {
  const look = classNames(styles.input, isMono && styles.mono, className)
  const defaults = { autoComplete: 'off', ...(isMono ? { spellCheck: false } : {}) }
  return { ...useContext(FieldContext), ...defaults, ...props, className: look }
}

/** A choice of a select. A text is its own label. */
type SelectOption = string | { value: string | number; label: string; title?: string }

type SelectProps = ComponentProps<'select'> & { options: readonly SelectOption[] }

/** A native select, because it works best on phones and with screen readers. */
export function Select({ options, ...props }: SelectProps) {
  return (
    <select {...useInput(props)}>
      {options.map(option => {
        if (typeof option === 'string') return <option key={option}>{option}</option>
        const { label, ...rest } = option
        return (
          <option key={option.value} {...rest}>
            {label}
          </option>
        )
      })}
    </select>
  )
}

/** An input with its label and hint. It shows the error of the form for its name. */
export const TextField = inField(TextInput)
export const TextareaField = inField(Textarea)
export const SelectField = inField(Select)

function inField<Props extends { name?: string | undefined }>(Input: (props: Props) => ReactNode) {
  return function InputField(props: Omit<FieldProps, 'children' | 'error'> & Props) {
    const { label, hint, isOptional, ...input } = props
    const errors = useContext(FieldErrorsContext)
    return (
      <Field label={label} hint={hint} isOptional={isOptional} error={errors[props.name ?? '']}>
        <Input {...(input as unknown as Props)} />
      </Field>
    )
  }
}

/** Returns the options of a select for labels by their values. */
export function optionsOf(labels: Readonly<Record<string, string>>): Array<{ value: string; label: string }> {
  return Object.entries(labels).map(([value, label]) => ({ value, label }))
}
