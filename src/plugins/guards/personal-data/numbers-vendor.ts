// The build bundles this file with its packages, so that the published package does not depend on
// them. The file is loaded when a kernel with the guard starts.
export { default as parsePhoneNumber } from "libphonenumber-js/max";
export { tfn as auTfn } from "stdnum/lib/cjs/au/index.js";
export { nn as beNn } from "stdnum/lib/cjs/be/index.js";
export { cpf as brCpf } from "stdnum/lib/cjs/br/index.js";
export { ssn as chSsn } from "stdnum/lib/cjs/ch/index.js";
export { rut as clRut } from "stdnum/lib/cjs/cl/index.js";
export { ric as cnRic } from "stdnum/lib/cjs/cn/index.js";
export { idnr as deIdnr, svnr as deSvnr } from "stdnum/lib/cjs/de/index.js";
export { dni as esDni, nie as esNie } from "stdnum/lib/cjs/es/index.js";
export { hetu as fiHetu } from "stdnum/lib/cjs/fi/index.js";
export { nir as frNir } from "stdnum/lib/cjs/fr/index.js";
export { nino as gbNino } from "stdnum/lib/cjs/gb/index.js";
export { aadhaar as inAadhaar, pan as inPan } from "stdnum/lib/cjs/in/index.js";
export { codicefiscale as itCodicefiscale } from "stdnum/lib/cjs/it/index.js";
export { curp as mxCurp } from "stdnum/lib/cjs/mx/index.js";
export { bsn as nlBsn } from "stdnum/lib/cjs/nl/index.js";
export { pesel as plPesel } from "stdnum/lib/cjs/pl/index.js";
export { cc as ptCc, nif as ptNif } from "stdnum/lib/cjs/pt/index.js";
export { personnummer as sePersonnummer } from "stdnum/lib/cjs/se/index.js";
export { ssn as usSsn } from "stdnum/lib/cjs/us/index.js";
export { vnr as atVnr } from "stdnum/lib/cjs/at/index.js";
export { sin as caSin } from "stdnum/lib/cjs/ca/index.js";
export { fodselsnummer as noFodselsnummer } from "stdnum/lib/cjs/no/index.js";
export { idnr as zaIdnr } from "stdnum/lib/cjs/za/index.js";
