import type { JSX } from "preact";
import {
  fieldValue,
  type FieldValue,
  type FormField,
  type FormValues,
} from "../../lib/control/form-fields.js";
import { visibleText } from "../../lib/visible-text.js";

export interface FormProps {
  readonly fields: readonly FormField[];
  readonly values: FormValues;
  readonly problems: Readonly<Record<string, string>>;
  readonly onValue: (key: string, value: FieldValue) => void;
}

/** The fields of a form, each with its problem. */
export function FormFields({ fields, values, problems, onValue }: FormProps): JSX.Element {
  return (
    <>
      {fields.map((field) => (
        <Field
          key={field.key}
          field={field}
          value={fieldValue(field, values)}
          problem={problems[field.key]}
          onValue={(value) => onValue(field.key, value)}
        />
      ))}
    </>
  );
}

interface FieldProps {
  readonly field: FormField;
  readonly value: FieldValue;
  readonly problem: string | undefined;
  readonly onValue: (value: FieldValue) => void;
}

function Field(props: FieldProps): JSX.Element {
  const { field, problem } = props;
  const id = `field-${field.key}`;
  const hint = `${id}-hint`;
  const control = <Control {...props} id={id} hint={hint} />;
  const words = (
    <label for={id}>
      {visibleText(field.title)} {field.isRequired && <span class="faint">required</span>}
    </label>
  );
  return (
    <div class={problem === undefined ? "field" : "field bad"}>
      {field.kind === "boolean" ? (
        <div class="row check-line">
          {control} {words}
        </div>
      ) : (
        <>
          {words}
          {control}
        </>
      )}
      <span id={hint} class={problem === undefined ? "hint" : "err"}>
        {problem ?? visibleText(field.description)}
      </span>
    </div>
  );
}

interface ControlProps extends FieldProps {
  readonly id: string;
  readonly hint: string;
}

function Control(props: ControlProps): JSX.Element {
  const { field, value, onValue } = props;
  const { kind } = field;
  const common = commonOf(props);
  const text = typeof value === "string" ? value : "";
  const onInput = (event: { readonly currentTarget: { readonly value: string } }): void =>
    onValue(event.currentTarget.value);
  switch (kind) {
    case "boolean":
      return (
        <input
          {...common}
          type="checkbox"
          checked={value === true}
          onChange={(event) => onValue(event.currentTarget.checked)}
        />
      );
    case "choice":
      return <Choice {...props} text={text} />;
    case "long":
    case "lines":
    case "json":
      return (
        <textarea
          {...common}
          class={kind === "json" ? "mono" : undefined}
          rows={kind === "lines" ? 3 : 4}
          value={text}
          placeholder={kind === "lines" ? "One per line" : undefined}
          onInput={onInput}
        />
      );
    case "date":
      return <input {...common} type="date" value={text} onInput={onInput} />;
    default:
      return (
        <input
          {...common}
          type="text"
          inputMode={kind === "number" ? "decimal" : "text"}
          autocomplete="off"
          value={text}
          onInput={onInput}
        />
      );
  }
}

function Choice(props: ControlProps & { readonly text: string }): JSX.Element {
  const { field, text, onValue } = props;
  return (
    <select
      {...commonOf(props)}
      value={text}
      onChange={(event) => onValue(event.currentTarget.value)}
    >
      {(!field.isRequired || text === "") && <option value="">not chosen</option>}
      {field.options.map((option) => {
        const written = JSON.stringify(option);
        return (
          <option key={written} value={written}>
            {visibleText(typeof option === "string" ? option : written)}
          </option>
        );
      })}
    </select>
  );
}

/** The common properties of all kinds of controls. */
function commonOf({ id, hint, problem, field }: ControlProps): {
  readonly id: string;
  readonly "aria-describedby": string;
  readonly "aria-invalid": boolean;
  readonly "aria-required": boolean;
} {
  return {
    id,
    "aria-describedby": hint,
    "aria-invalid": problem !== undefined,
    "aria-required": field.isRequired,
  };
}
