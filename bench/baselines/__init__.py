"""Two peers' ideas as baselines, at the same ε and over the same universe as our own methods.

`ngram` follows the idea of Chen, Acs and Castelluccia (2012), `markov` the manner of AdaTrace
(Gursoy and others, 2018). Both are our own code, written from the ideas of the papers, and
simplified: `docs/baselines.md` says in what. They exist to be compared with; nothing
of them is published.
"""
