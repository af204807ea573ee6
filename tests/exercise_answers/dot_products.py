"""Answers to the exercises on dot products, written from their prompts alone."""

import math

import numpy as np


# --- dot_product ----------------------------------------------------------------------------------
def products_only(a, b):
    return a * b


def table_of_products(a, b):
    return np.outer(a, b)


def sums_multiplied(a, b):
    return np.sum(a) * np.sum(b)


def products_averaged(a, b):
    return np.mean(a * b)


def angle(a, b):
    return a @ b / (np.linalg.norm(a) * np.linalg.norm(b))


def last_product(a, b):
    for i in range(len(a)):
        total = a[i] * b[i]
    return total


def returns_inside_the_loop(a, b):
    total = 0
    for i in range(len(a)):
        total += a[i] * b[i]
        return total


def starts_at_one(a, b):
    total = 1
    for x, y in zip(a, b, strict=True):
        total += x * y
    return total


def first_feature_left_out(a, b):
    total = 0
    for i in range(1, len(a)):
        total += a[i] * b[i]
    return total


def features_added(a, b):
    return sum(x + y for x, y in zip(a, b, strict=True))


def all_multiplied(a, b):
    return np.prod(a * b)


def with_itself(a, b):
    return a @ a


def absolute(a, b):
    return abs(a @ b)


def index_error(a, b):
    total = 0
    for i in range(len(a) + 1):
        total += a[i] * b[i]
    return total


def printed(a, b):
    print(sum(a * b))


def as_text(a, b):
    return f"{a @ b:.1f}"


def distance(a, b):
    return np.sqrt(((a - b) ** 2).sum())


def in_a_list(a, b):
    return [a @ b]


def whole_numbers(a, b):
    return int(a @ b)


def twelve(a, b):
    return 12.0


def while_loop(a, b):
    total, i = 0.0, 0
    while i < len(a):
        total += a[i] * b[i]
        i += 1
    return total


def generator(a, b):
    return sum(x * y for x, y in zip(a, b, strict=True))


def matrix_product(a, b):
    return (a[None, :] @ b[:, None])[0, 0]


def by_law_of_cosines(a, b):
    return ((a + b) @ (a + b) - a @ a - b @ b) / 2


# --- all_scores -----------------------------------------------------------------------------------
def keys_down(q, k):
    return k @ q.T


def queries_twice(q, k):
    return q @ q.T


def keys_twice(q, k):
    return k @ k.T


def no_transpose(q, k):
    return q @ k


def reshaped(q, k):
    return q @ k.reshape(k.shape[1], k.shape[0])


def elementwise(q, k):
    return q * k


def one_to_one(q, k):
    return (q * k).sum(axis=1)


def square_table(q, k):
    scores = np.zeros((len(q), len(q)))
    for i in range(len(q)):
        for j in range(len(q)):
            scores[i, j] = q[i] @ k[j]
    return scores


def rows_and_columns_mixed_up(q, k):
    scores = np.zeros((len(k), len(q)))
    for i in range(len(q)):
        for j in range(len(k)):
            scores[j, i] = q[i] @ k[j]
    return scores


def flattened(q, k):
    return np.array([q[i] @ k[j] for i in range(len(q)) for j in range(len(k))])


def flattened_the_wrong_way(q, k):
    return np.array([query @ key for key in k for query in q]).reshape(len(q), len(k))


def scaled(q, k):
    return q @ k.T / np.sqrt(q.shape[1])


def both_transposed(q, k):
    return q.T @ k


def row_returned(q, k):
    scores = []
    for query in q:
        row = [query @ key for key in k]
    scores.append(row)
    return np.array(scores)


def sums_of_features(q, k):
    return np.einsum("id,je->ij", q, k)


def everything_summed(q, k):
    return np.einsum("id,jd->", q, k)


def distances(q, k):
    return np.linalg.norm(q[:, None] - k[None], axis=-1)


def cosines(q, k):
    return (q / np.linalg.norm(q, axis=1, keepdims=True)
            @ (k / np.linalg.norm(k, axis=1, keepdims=True)).T)


def comprehension(q, k):
    return [[float(np.sum(query * key)) for key in k] for query in q]


def tensordot(q, k):
    return np.tensordot(q, k, axes=(1, 1))


def broadcast(q, k):
    return (q[:, None, :] * k[None, :, :]).sum(axis=2)


def column_by_column(q, k):
    scores = np.empty((q.shape[0], k.shape[0]), dtype=np.float32)
    for j, key in enumerate(k):
        scores[:, j] = q @ key
    return scores


# --- cosine_similarity ----------------------------------------------------------------------------
def plain_cosine(a, b):
    return a @ b / (np.linalg.norm(a) * np.linalg.norm(b))


def only_one_length(a, b):
    if not a.any() or not b.any():
        return 0.0
    return a @ b / np.linalg.norm(a)


def lengths_squared(a, b):
    if not a.any() or not b.any():
        return 0.0
    return a @ b / (np.sum(a**2) * np.sum(b**2))


def lengths_of_absolutes(a, b):
    total = np.abs(a).sum() * np.abs(b).sum()
    return a @ b / total if total else 0.0


def lengths_added(a, b):
    total = np.linalg.norm(a) + np.linalg.norm(b)
    return a @ b / total if total else 0.0


def one_length_of_both(a, b):
    total = np.sqrt(np.sum(a**2) + np.sum(b**2))
    return a @ b / total if total else 0.0


def dot_only(a, b):
    return a @ b


def only_if_both_are_zero(a, b):
    if not a.any() and not b.any():
        return 0.0
    return a @ b / (np.linalg.norm(a) * np.linalg.norm(b))


def large_epsilon(a, b):
    return a @ b / (np.linalg.norm(a) * np.linalg.norm(b) + 0.01)


def length_as_number_of_features(a, b):
    return a @ b / (len(a) * len(b))


def missing_brackets(a, b):
    return np.nan_to_num(a @ b / np.linalg.norm(a) * np.linalg.norm(b))


def cosine_distance(a, b):
    total = np.linalg.norm(a) * np.linalg.norm(b)
    return 1 - a @ b / total if total else 0.0


def angle_itself(a, b):
    total = np.linalg.norm(a) * np.linalg.norm(b)
    return math.acos(a @ b / total) if total else 0.0


def zero_means_one(a, b):
    total = np.linalg.norm(a) * np.linalg.norm(b)
    return a @ b / total if total else 1.0


def absolute_cosine(a, b):
    total = np.linalg.norm(a) * np.linalg.norm(b)
    return abs(a @ b) / total if total else 0.0


def conditional(a, b):
    total = np.linalg.norm(a) * np.linalg.norm(b)
    return a @ b / total if total > 0 else 0.0


def square_root_of_products(a, b):
    if np.all(a == 0) or np.all(b == 0):
        return 0
    return sum(a * b) / math.sqrt(sum(a * a) * sum(b * b))


def unit_vectors(a, b):
    def unit(x):
        length = math.sqrt(x @ x)
        return x / length if length else x

    return unit(a) @ unit(b)


def tiny_epsilon(a, b):
    return float(np.dot(a, b) / max(np.linalg.norm(a) * np.linalg.norm(b), 1e-300))


# --- best_key -------------------------------------------------------------------------------------
def smallest(q, k):
    return np.argmin(q @ k.T, axis=1)


def best_of_the_columns(q, k):
    return (q @ k.T).argmax(axis=0)


def best_of_all(q, k):
    return np.argmax(q @ k.T)


def score_not_index(q, k):
    return (q @ k.T).max(axis=1)


def nearest(q, k):
    return np.argmin(np.linalg.norm(q[:, None] - k, axis=2), axis=1)


def longest(q, k):
    return np.full(len(q), np.argmax(np.linalg.norm(k, axis=1)))


def most_similar(q, k):
    k = k / np.linalg.norm(k, axis=1, keepdims=True)
    return np.argmax(q @ k.T, axis=1)


def key_itself(q, k):
    return k[np.argmax(q @ k.T, axis=1)]


def largest_in_size(q, k):
    return np.argmax(np.abs(q @ k.T), axis=1)


def as_floats(q, k):
    best = np.zeros(len(q))
    for i, query in enumerate(q):
        best[i] = np.argmax(k @ query)
    return best


def starts_at_zero(q, k):
    best = []
    for query in q:
        highest, where = 0, 0
        for j, key in enumerate(k):
            if query @ key > highest:
                highest, where = query @ key, j
        best.append(where)
    return np.array(best)


def counted_from_one(q, k):
    return np.argmax(q @ k.T, axis=1) + 1


def with_a_column(q, k):
    return np.argmax(q @ k.T, axis=1, keepdims=True)


def sorted_wrongly(q, k):
    return np.argsort(q @ k.T, axis=1)[:, 0]


def ranking(q, k):
    return np.argsort(-(q @ k.T), axis=1)


def among_queries(q, k):
    return np.argmax(q @ q.T, axis=1)


def by_argmax(q, k):
    return (q @ k.T).argmax(-1)


def by_sorting(q, k):
    return np.argsort(q @ k.T, axis=1)[:, -1]


def by_loop(q, k):
    best = []
    for query in q:
        row = [query @ key for key in k]
        best.append(row.index(max(row)))
    return best


def by_running_best(q, k):
    best = np.zeros(len(q), dtype=int)
    for i in range(len(q)):
        for j in range(1, len(k)):
            if q[i] @ k[j] > q[i] @ k[best[i]]:
                best[i] = j
    return best


# --- project --------------------------------------------------------------------------------------
def from_the_left(x, wq, wk, wv):
    return wq @ x, wk @ x, wv @ x


def another_order(x, wq, wk, wv):
    return x @ wq, x @ wv, x @ wk


def keys_first(x, wq, wk, wv):
    return x @ wk, x @ wq, x @ wv


def one_weight(x, wq, wk, wv):
    return x @ wq, x @ wq, x @ wq


def queries_weight_for_keys(x, wq, wk, wv):
    return x @ wq, x @ wq, x @ wv


def values_left_alone(x, wq, wk, wv):
    return x @ wq, x @ wk, x


def weights_turned(x, wq, wk, wv):
    return x @ wq.T, x @ wk.T, x @ wv.T


def turned_results(x, wq, wk, wv):
    return (x @ wq).T, (x @ wk).T, (x @ wv).T


def features_down(x, wq, wk, wv):
    return wq.T @ x.T, wk.T @ x.T, wv.T @ x.T


def stacked(x, wq, wk, wv):
    return np.concatenate([x @ wq, x @ wk, x @ wv], axis=1)


def only_queries(x, wq, wk, wv):
    return x @ wq


def multiplied_by_entry(x, wq, wk, wv):
    return x * wq, x * wk, x * wv


def first_token(x, wq, wk, wv):
    return x[0] @ wq, x[0] @ wk, x[0] @ wv


def one_from_another(x, wq, wk, wv):
    q = x @ wq
    return q, q @ wk, q @ wv


def in_a_dict(x, wq, wk, wv):
    return {"q": x @ wq, "k": x @ wk, "v": x @ wv}


def tuple_of_products(x, wq, wk, wv):
    return tuple(x @ w for w in (wq, wk, wv))


def list_of_products(x, wq, wk, wv):
    return [np.einsum("nd,de->ne", x, w) for w in (wq, wk, wv)]


def token_by_token(x, wq, wk, wv):
    return (np.array([row @ wq for row in x]), np.array([row @ wk for row in x]),
            np.array([row @ wv for row in x]))


def one_product_split(x, wq, wk, wv):
    whole = x @ np.hstack([wq, wk, wv])
    d = wq.shape[1]
    return whole[:, :d], whole[:, d : 2 * d], whole[:, 2 * d :]


# --- fault_all_scores -----------------------------------------------------------------------------
def total_never_reset(q, k):
    scores = np.zeros((len(q), len(k)))
    total = 0.0
    for i in range(len(q)):
        for j in range(len(k)):
            for feature in range(len(q[i])):
                total += q[i][feature] * k[j][feature]
            scores[i][j] = total
    return scores


def total_reset_too_often(q, k):
    scores = np.zeros((len(q), len(k)))
    for i in range(len(q)):
        for j in range(len(k)):
            for feature in range(len(q[i])):
                total = 0.0
                total += q[i][feature] * k[j][feature]
            scores[i][j] = total
    return scores


def written_transposed(q, k):
    scores = np.zeros((len(k), len(q)))
    for i in range(len(q)):
        for j in range(len(k)):
            total = 0.0
            for feature in range(len(q[i])):
                total += q[i][feature] * k[j][feature]
            scores[j][i] = total
    return scores


def written_too_far_out(q, k):
    scores = np.zeros((len(q), len(k)))
    for i in range(len(q)):
        for j in range(len(k)):
            total = 0.0
            for feature in range(len(q[i])):
                total += q[i][feature] * k[j][feature]
        scores[i][j] = total
    return scores


def wrong_length(q, k):
    scores = np.zeros((len(q), len(k)))
    for i in range(len(q)):
        for j in range(len(k)):
            total = 0.0
            for feature in range(len(q)):
                total += q[i][feature] * k[j][feature]
            scores[i][j] = total
    return scores


def sign_of_the_last(q, k):
    scores = np.zeros((len(q), len(k)))
    for i in range(len(q)):
        for j in range(len(k)):
            total = 0.0
            for feature in range(len(q[i])):
                total = q[i][feature] * k[j][feature]
            scores[i][j] = total
    return scores


def reset_in_the_right_place(q, k):
    scores = np.zeros((len(q), len(k)))
    for i in range(len(q)):
        for j in range(len(k)):
            total = 0.0
            for feature in range(len(q[i])):
                total += q[i][feature] * k[j][feature]
            scores[i][j] = total
    return scores


def reset_after_writing(q, k):
    scores = np.zeros((len(q), len(k)))
    for i in range(len(q)):
        total = 0.0
        for j in range(len(k)):
            for feature in range(len(q[i])):
                total += q[i][feature] * k[j][feature]
            scores[i][j] = total
            total = 0.0
    return scores


def added_in_place(q, k):
    scores = np.zeros((len(q), len(k)))
    for i in range(len(q)):
        for j in range(len(k)):
            for feature in range(len(q[i])):
                scores[i][j] += q[i][feature] * k[j][feature]
    return scores


WRONG = {
    "predict_score_shape": [
        ((5, 7), "transposed"), ((7, 3), "features-kept"), ((7, 7), "queries-with-queries"),
        ((3, 3), "features-kept"), ((12, 12), "not-projected"), ((7, 12), "not-projected"),
        ((7, 5, 3), "features-kept"), (35, "count-not-shape"), ("7 by 5", "wrong-dtype"),
        ((5, 5), "queries-with-queries"), ((3, 5), "features-kept"),
    ],
    "dot_product": [
        (products_only, "elementwise"), (table_of_products, "outer-product"),
        (sums_multiplied, "product-of-sums"), (products_averaged, "mean-not-sum"),
        (angle, "cosine"), (last_product, "one-product-only"),
        (returns_inside_the_loop, "one-product-only"), (starts_at_one, None),
        (first_feature_left_out, None), (features_added, "added-not-multiplied"),
        (all_multiplied, None), (with_itself, "one-vector-only"), (absolute, None),
        (index_error, "raises"), (printed, "prints-instead-of-returning"),
        (as_text, "wrong-dtype"), (distance, None), (in_a_list, "wrong-shape"),
        (whole_numbers, None), (twelve, "hard-coded"),
    ],
    "all_scores": [
        (keys_down, "transposed"), (queries_twice, "queries-with-queries"),
        (keys_twice, "keys-with-keys"), (no_transpose, "no-transpose"),
        (reshaped, "reshape-not-transpose"), (elementwise, "elementwise"),
        (one_to_one, "pairs-only"), (square_table, "square-only"),
        (rows_and_columns_mixed_up, "transposed"), (flattened, "flattened"),
        (flattened_the_wrong_way, "listed-by-key"), (scaled, "scaled-already"),
        (both_transposed, "raises"), (row_returned, "wrong-shape"), (sums_of_features, None),
        (everything_summed, "wrong-shape"), (distances, None), (cosines, None),
    ],
    "cosine_similarity": [
        (plain_cosine, "nan-for-zero-vector"), (only_one_length, "one-norm-missing"),
        (lengths_squared, "squared-norms"), (lengths_of_absolutes, "l1-norm"),
        (lengths_added, "lengths-added"), (one_length_of_both, "lengths-added"),
        (dot_only, "no-norms"), (only_if_both_are_zero, "nan-for-zero-vector"),
        (large_epsilon, None), (length_as_number_of_features, None),
        (missing_brackets, "brackets-missing"), (cosine_distance, None), (angle_itself, None),
        (zero_means_one, None), (absolute_cosine, None),
    ],
    "best_key": [
        (smallest, "lowest"), (best_of_the_columns, "best-query-per-key"),
        (best_of_all, "one-for-all"), (score_not_index, "score-not-index"),
        (nearest, "nearest-by-distance"), (longest, "longest-key"), (most_similar, "by-angle"),
        (key_itself, "key-not-index"), (largest_in_size, "largest-size"),
        (as_floats, "wrong-dtype"), (starts_at_zero, "starts-at-zero"), (counted_from_one, None),
        (with_a_column, "axis-kept"), (sorted_wrongly, "lowest"), (ranking, "ranking-not-best"),
        (among_queries, None),
    ],
    "project": [
        (from_the_left, "weights-first"), (another_order, "keys-values-swapped"),
        (keys_first, "queries-keys-swapped"), (one_weight, "weights-shared"),
        (queries_weight_for_keys, "weights-shared"), (values_left_alone, "no-projection"),
        (weights_turned, "weights-first"), (turned_results, "weights-first"),
        (features_down, "weights-first"), (stacked, "joined"), (only_queries, "wrong-shape"),
        (multiplied_by_entry, "raises"), (first_token, "one-token-only"),
        (one_from_another, "one-after-another"), (in_a_dict, "wrong-shape"),
    ],
    "fault_all_scores": [
        (total_never_reset, "total-never-reset"), (total_reset_too_often, "one-feature-only"),
        (written_transposed, "transposed"), (written_too_far_out, None), (wrong_length, None),
        (sign_of_the_last, "one-feature-only"),
    ],
}

RIGHT = {
    "predict_score_shape": [(7, 5), [7, 5], np.array([7, 5]), "(7, 5)", (7.0, 5.0)],
    "dot_product": [while_loop, generator, matrix_product, by_law_of_cosines],
    "all_scores": [comprehension, tensordot, broadcast, column_by_column],
    "cosine_similarity": [conditional, square_root_of_products, unit_vectors, tiny_epsilon],
    "best_key": [by_argmax, by_sorting, by_loop, by_running_best],
    "project": [tuple_of_products, list_of_products, token_by_token, one_product_split],
    "fault_all_scores": [reset_in_the_right_place, reset_after_writing, added_in_place, broadcast],
}
