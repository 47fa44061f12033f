// Looks at report pages in a real Chromium, as a desk and as a phone, light and dark: what the
// console says, whether anything sticks out sideways, what axe-core finds, and a picture of each.
//
//   npm install puppeteer-core axe-core
//   CHROMIUM=/usr/bin/chromium node report_in_browser.mjs page.html ...
//
// Pictures go beside each page. The exit code is 1 if a page has any fault.
import fs from 'node:fs';
import path from 'node:path';
import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';

const require = createRequire(path.join(process.cwd(), 'x.js'));
const puppeteer = require('puppeteer-core');
const axe = fs.readFileSync(require.resolve('axe-core/axe.min.js'), 'utf8');

const browser = await puppeteer.launch({
  executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
  args: ['--no-sandbox'],
});
let faults = 0;
for (const file of process.argv.slice(2)) {
  for (const width of [1280, 390]) {
    for (const mode of ['light', 'dark']) {
      const page = await browser.newPage();
      const said = [];
      page.on('console', (message) => said.push(message.text()));
      page.on('pageerror', (error) => said.push(String(error)));
      page.on('requestfailed', (request) => said.push(`cannot load ${request.url().slice(0, 80)}`));
      await page.setViewport({ width, height: 900 });
      await page.emulateMediaFeatures([{ name: 'prefers-color-scheme', value: mode }]);
      await page.goto(pathToFileURL(path.resolve(file)).href);
      const excess = await page.evaluate(() => {
        const root = document.documentElement;
        return root.scrollWidth - root.clientWidth;
      });
      await page.screenshot({
        path: file.replace(/\.html$/, `-${width}-${mode}.png`),
        fullPage: true,
      });
      await page.evaluate(axe);
      const found = await page.evaluate(async () => {
        const { violations } = await globalThis.axe.run();
        return violations.map((v) => `${v.id} (${v.nodes.length}): ${v.nodes[0].html.slice(0, 120)}`);
      });
      faults += said.length + found.length + (excess > 0 ? 1 : 0);
      console.log(`${file} ${width} ${mode}: ${excess} px too wide, ` +
        `${said.length} console lines, ${found.length} accessibility faults`);
      for (const line of [...said, ...found]) console.log(`  ${line}`);
      await page.close();
    }
  }
}
await browser.close();
process.exitCode = faults ? 1 : 0;
