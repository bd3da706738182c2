"""The formulas of all measures, for `heldout list measures NAME` and the page of the documentation.

In rankings: rel_i is 1 if the document at rank i is relevant, else 0; g_i its gain; n the number of
documents retrieved, R of relevant ones, r of relevant ones retrieved, P(i) the precision at rank i;
ideal lists are marked with *. In predictions: y is the truth, p the prediction; TP, FP, FN and TN
are counts of one class against the others.
"""

from __future__ import annotations

from typing import Final

__all__ = ["FORMULAS"]

_RANKING: Final = {
    "NumQ": "number of queries",
    "NumRet": "n",
    "NumRel": "R",
    "NumRelRet": "r",
    "NumNonrelJudgedRet": "Σ_i [document i is judged not relevant]",
    "NumUnjudgedRet": "Σ_i [document i has no judgement]",
    "Judged": "Σ_{i≤k} [document i is judged] / min(k, n)",
    "Unjudged": "Σ_{i≤k} [document i has no judgement] / k",
    "SetP": "r / n",
    "SetR": "r / R",
    "SetRelP": "r / min(n, R)",
    "SetAP": "(r / n) · (r / R)",
    "SetF": "(β + 1) P R / (R + β P), P = SetP, R = SetR",
    "Utility": "a r + b (n - r) + c (R - r) + d (N - n - R + r)",
    "RelString": "the grades of documents 1 … k as text",
    "alpha_DCG": "Σ_{i≤k} Σ_s rel_{i,s} (1-α)^{c_s(i-1)} / log2(i+1) / "
    "(S Σ_{i≤k} (1-α)^{i-1} / log2(i+1)); S subtopics, c_s(i): documents of s down to rank i",
    "alpha_nDCG": "Σ_{i≤k} Σ_s rel_{i,s} (1-α)^{c_s(i-1)} / log2(i+1), over the same of the "
    "ideal list",
    "ERR_IA": "Σ_{i≤k} Σ_s rel_{i,s} (1-α)^{c_s(i-1)} / i / (S Σ_{i≤k} (1-α)^{i-1} / i)",
    "nERR_IA": "Σ_{i≤k} Σ_s rel_{i,s} (1-α)^{c_s(i-1)} / i, over the same of the ideal list",
    "NRBP": "(1 - (1-α) β) / S · Σ_i β^{i-1} Σ_s rel_{i,s} (1-α)^{c_s(i-1)}",
    "nNRBP": "NRBP / NRBP*",
    "AP_IA": "1/S Σ_s AP_s",
    "P_IA": "1/S Σ_s P_s@k",
    "StRecall": "subtopics covered by documents 1 … k / S",
    "DCG": "Σ_{i≤k} g_i / log2(i+1)",
    "IDCG": "Σ_{i≤k} g*_i / log2(i+1)",
    "nDCG": "DCG / DCG*; gain g_i = grade, or 2^grade - 1 (dcg='exp-log2')",
    "nDCGrel": "mean of nDCG@i over the ranks i of relevant documents",
    "Rndcg": "mean of nDCG@i over the ranks i where the ideal list changes grade",
    "G": "Σ_i g_i / log2(2 + C_i - Σ_{j≤i} g_j) / Σ_i g*_i, C_i = Σ_{j≤i} max(g*_j, 1)",
    "RBP": "(1-p) Σ_i g_i p^{i-1}",
    "RBPResidual": "(1-p) Σ_{i unjudged} p^{i-1} + p^n",
    "ERR": "Σ_{i≤k} 1/i · s_i Π_{j<i} (1-s_j), s_i = (2^grade - 1) / 2^top",
    "INST": "Σ_i W_i g_i, W_{i+1} = W_i C_i, C_i = ((i + T + T_i - 1) / (i + T + T_i))², "
    "T_i = T - Σ_{j≤i} g_j",
    "INSQ": "Σ_i W_i g_i, W_{i+1} = W_i C_i, C_i = ((i + 2T - 1) / (i + 2T))²",
    "BPM": "Σ_i W_i g_i, W_{i+1} = W_i C_i, C_i = [Σ_{j≤i} g_j < T and i < k]",
    "SDCG": "Σ_{i≤k} g_i / log2(i+1) / Σ_{i≤k} 1 / log2(i+1)",
    "NERR8": "Σ_i W_i g_i, W_{i+1} = W_i C_i, C_i = (1 - g_i) [i < k]",
    "NERR9": "Σ_i W_i g_i, W_{i+1} = W_i C_i, C_i = (1 - g_i) i / (i+1) [i < k]",
    "NERR10": "Σ_i W_i g_i, W_{i+1} = W_i C_i, C_i = p (1 - g_i)",
    "NERR11": "Σ_i W_i g_i, W_{i+1} = W_i C_i, C_i = ((i + 2T - 1) / (i + 2T))² (1 - g_i)",
    "Compat": "RBO(list, ideal) / RBO(ideal, ideal), RBO = Σ_i p^{i-1} |first i of both| / i",
    "Accuracy": "pairs of a relevant document above another / (r (n - r))",
    "P": "Σ_{i≤k} rel_i / k",
    "R": "Σ_{i≤k} rel_i / R",
    "F": "(1 + β²) P R / (β² P + R), P = P@k, R = R@k",
    "RelP": "Σ_{i≤k} rel_i / min(k, R)",
    "Success": "[Σ_{i≤k} rel_i > 0]",
    "RR": "1 / min {i: rel_i = 1}",
    "AP": "Σ_i rel_i P(i) / R",
    "GMAP": "exp(mean over queries of log max(AP, 0.00001))",
    "SmoothAP": "log((1 + s) / (1 + R - s)), s = Σ_i rel_i P(i)",
    "Rprec": "P(R)",
    "Bpref": "1/R Σ_{relevant d} (1 - min(N_d, R) / min(N, R)); N: judged not relevant, "
    "N_d: of these above d",
    "gm_bpref": "exp(mean over queries of log max(Bpref, 0.00001))",
    "infAP": "1/R Σ_i rel_i (1/i + (i-1)/i · d_i/(i-1) · (r_i + ε) / (r_i + n_i + 2ε)); "
    "above i: d_i pooled, r_i relevant, n_i not",
    "IPrec": "max {P(i): recall at i ≥ the level}",
    "IPrec11": "mean of IPrec at 0, 0.1, …, 1",
    "binG": "1/R Σ_i rel_i / log2(2 + not relevant above i)",
}

FORMULAS: Final = {"ranking": _RANKING}
"""Formulas by task and measure."""
