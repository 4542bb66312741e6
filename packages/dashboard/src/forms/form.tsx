import { type FocusEvent, type FormEvent, type ReactNode, useRef, useState } from 'react'
import { ApiProblem, messageOf } from '../api/api-problem.ts'
import { Button } from '../ui/button.tsx'
import { classNames } from '../ui/class-names.ts'
import { useCloseDialog } from '../ui/dialog.tsx'
import { FieldErrorsContext } from '../ui/field.tsx'
import { FormProblem } from '../ui/problem.tsx'
import styles from './form.module.css'
import { type Change, useChange } from './use-change.ts'

export type FieldErrors = Readonly<Record<string, string>>

/** Messages by field. Others than texts are left out, so a check may be `isWrong && 'Enter a name.'`. */
type Checks = Readonly<Record<string, string | false | null | undefined>>

type FormOptions<Body, Result> = Omit<Change<Result, Body>, 'run' | 'onError'> & {
  /** Reads the body from the fields. `intent` is the value of the submit button, if it has one. */
  read(fields: (name: string) => string, form: FormData, intent: string): Body
  check?: ((body: Body) => Checks) | undefined
  submit(body: Body): Promise<Result>
  /** Whether the dialog around the form stays open. */
  staysOpen?: boolean | undefined
}

/** Submits a form to the API. It shows errors at their fields and focuses the first invalid field. */
export function useForm<Body, Result>(options: FormOptions<Body, Result>) {
  const [errors, setErrors] = useState<FieldErrors>({})
  const [problem, setProblem] = useState<string | null>(null)
  const form = useRef<HTMLFormElement>(null)
  const closeDialog = useCloseDialog()

  const showErrors = (fields: FieldErrors, whole: string | null) => {
    const known = new Set([...(form.current?.elements ?? [])].map(element => element.getAttribute('name')))
    const unmatched = Object.entries(fields).filter(([path]) => !known.has(path))
    setErrors(fields)
    setProblem(unmatched.length > 0 ? unmatched.map(([, message]) => message).join(' ') : whole)
    const first = [...(form.current?.elements ?? [])].find(element => (element.getAttribute('name') ?? '') in fields)
    if (!(first instanceof HTMLElement)) return
    first.focus()
    first.scrollIntoView({ block: 'nearest' }) // it may have had the focus far from the view
  }

  const { mutate, isPending } = useChange({
    ...options,
    run: options.submit,
    onDone(result, body) {
      if (!options.staysOpen) closeDialog?.()
      return options.onDone?.(result, body)
    },
    onError(error) {
      const fields = error instanceof ApiProblem ? error.fields : {}
      showErrors(fields, Object.keys(fields).length > 0 ? null : messageOf(error))
    },
  })

  return {
    errors,
    problem,
    isPending,
    /** Removes the error of a field that the user changes. */
    onInput({ target }: FormEvent) {
      const changed = target instanceof Element ? target.getAttribute('name') : null
      if (changed === null || !(changed in errors)) return
      setErrors(Object.fromEntries(Object.entries(errors).filter(([name]) => name !== changed)))
    },
    onSubmit(event: FormEvent<HTMLFormElement>) {
      event.preventDefault()
      if (isPending) return
      form.current = event.currentTarget
      const data = new FormData(event.currentTarget)
      const { submitter } = event.nativeEvent as SubmitEvent // the event of a form
      const intent = submitter instanceof HTMLButtonElement ? submitter.value : ''
      const body = options.read(name => String(data.get(name) ?? ''), data, intent)
      const found = messagesIn(options.check?.(body) ?? {})
      setErrors({})
      setProblem(null)
      if (Object.keys(found).length > 0) showErrors(found, null)
      else mutate(body)
    },
  }
}

export function messagesIn(checks: Checks): FieldErrors {
  return Object.fromEntries(Object.entries(checks).flatMap(([name, message]) => (message ? [[name, message]] : [])))
}

type Look = {
  action: string
  /** The label of the button that closes the dialog around the form. Default: Cancel. */
  cancel?: string
  children?: ReactNode
  isWide?: boolean
  /** Whether it cannot be undone. */
  isDangerous?: boolean
  /** Shown next to the submit button. */
  more?: ReactNode
  /** Other buttons that submit. Enter presses the first submit button of a form, so these follow it. */
  after?: ReactNode
  /** Keeps the buttons and the notice in view. */
  isLong?: boolean
  /** Shown above the buttons. */
  notice?: ReactNode
  onBlur?(event: FocusEvent): void
}

export function Form<Body, Result>(props: FormOptions<Body, Result> & Look) {
  return <FormFrame {...props} form={useForm(props)} />
}

/** What a form shows: its fields, the error of the whole form, and its buttons. */
export function FormFrame(props: Look & { form: ReturnType<typeof useForm> }) {
  const { form, action, cancel = 'Cancel', children, isWide, isDangerous, more, after, isLong, notice, onBlur } = props
  const closeDialog = useCloseDialog()
  return (
    <form className={styles.form} onSubmit={form.onSubmit} onInput={form.onInput} onBlur={onBlur} noValidate>
      <FieldErrorsContext value={form.errors}>{children}</FieldErrorsContext>
      <FormProblem problem={form.problem} />
      <div className={classNames(styles.foot, isLong && styles.sticky)}>
        {notice}
        {/* From the end of the line, where the main button is. */}
        <div className={styles.actions}>
          <Button
            type="submit"
            kind={isDangerous ? 'danger' : 'primary'}
            isWide={isWide}
            isPending={form.isPending}
            aria-keyshortcuts="Control+Enter"
          >
            {action}
          </Button>
          {after}
          {closeDialog && !isWide && <Button onClick={closeDialog}>{cancel}</Button>}
          {more}
        </div>
      </div>
    </form>
  )
}
