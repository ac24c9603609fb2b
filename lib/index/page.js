// What scripts can add to the page for people, which is whole without them: its own address in the commands, and
// buttons that copy these.
"use strict";
{
  const address = new URL(".", document.baseURI).href.replace(/\/$/, "");
  for (const place of document.querySelectorAll(".address")) place.textContent = address;
  for (const note of document.querySelectorAll(".address-note")) note.remove();

  if (navigator.clipboard) {
    const copy = async (event) => {
      const button = event.currentTarget;
      await navigator.clipboard.writeText(button.parentElement.querySelector("code").textContent);
      button.textContent = "Copied";
      setTimeout(() => { button.textContent = "Copy"; }, 2000);
    };
    document.body.classList.add("copies");
    for (const block of document.querySelectorAll("pre")) {
      const button = document.createElement("button");
      button.type = "button";
      button.textContent = "Copy";
      button.setAttribute("aria-live", "polite");
      button.addEventListener("click", copy);
      block.append(button);
    }
  }
}
