// What the search weighs, as Sphinx has it; questions that learners ask come before equal finds.
var Scorer = {
  score: ([page, title, anchor, description, score]) => score + (page === "book/questions" ? 10 : 0),
  objNameMatch: 11,
  objPartialMatch: 6,
  objPrio: { 0: 15, 1: 5, 2: -5 },
  objPrioDefault: 0,
  title: 15,
  partialTitle: 7,
  term: 5,
  partialTerm: 2,
};
