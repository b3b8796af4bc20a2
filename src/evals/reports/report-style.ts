/** The style of the page of a report. */
export const REPORT_STYLE = `
:root{--ground:#fff;--text:#1b1f24;--dim:#59636e;--line:#d1d9e0;--soft:#f6f8fa;--bad:#b3261e;--good:#116329;--range:#8bb4e8;--mean:#0b4fa8;--del:#ffebe9;--ins:#dafbe1}
@media (prefers-color-scheme:dark){:root{--ground:#0d1117;--text:#e6edf3;--dim:#9198a1;--line:#3d444d;--soft:#151b23;--bad:#ff8a80;--good:#56d364;--range:#2c5a94;--mean:#79b8ff;--del:#4a1a1d;--ins:#12361c}}
*{box-sizing:border-box}
body{margin:0;background:var(--ground);color:var(--text);font:15px/1.5 system-ui,sans-serif}
main{max-width:72rem;margin:0 auto;padding:1.5rem 1rem 4rem}
h1{margin:0;font-size:1.6rem}h2{margin:2rem 0 .5rem;font-size:1.2rem}h3{margin:1rem 0 .3rem;font-size:1rem}h4,h5{margin:.8rem 0 .3rem;font-size:.9rem;color:var(--dim)}
.when,.dim{color:var(--dim)}.bad{color:var(--bad)}.good{color:var(--good)}
dl{display:grid;grid-template-columns:max-content 1fr;gap:.1rem 1rem}dt{color:var(--dim)}dd{margin:0}
.wide{overflow-x:auto}table{border-collapse:collapse;width:100%}th,td{padding:.35rem .7rem;border-bottom:1px solid var(--line);text-align:right;white-space:nowrap}th:first-child,td:first-child{text-align:left}th{color:var(--dim);font-weight:600}
.bar{width:10rem;height:.8rem;background:var(--soft);vertical-align:middle}.range{fill:var(--range)}.mean{fill:var(--mean)}
details{margin:.3rem 0}summary{cursor:pointer}.case{border:1px solid var(--line);border-radius:6px;padding:.4rem .8rem}.case>summary span{margin-left:1rem;color:var(--dim)}
pre{margin:.2rem 0;padding:.5rem .7rem;background:var(--soft);border-radius:6px;white-space:pre-wrap;overflow-wrap:anywhere;font:13px/1.45 ui-monospace,monospace;max-height:30rem;overflow:auto}
.diff span,.diff del,.diff ins{display:block;text-decoration:none}.diff del{background:var(--del)}.diff ins{background:var(--ins)}
.sides{display:grid;grid-template-columns:repeat(auto-fit,minmax(20rem,1fr));gap:1rem}.sides section{min-width:0}.message{border-left:3px solid var(--line);padding-left:.6rem;margin:.5rem 0}.message.assistant{border-color:var(--mean)}.call{color:var(--dim)}
body:has(#failed:checked) .case.pass{display:none}
a{color:var(--mean)}
`;
