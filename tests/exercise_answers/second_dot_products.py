"""Answers of a second class to the exercises on dot products, written from their prompts alone."""

import math

import numpy as np

# --- dot_product ---


def all_pairs_of_features(a, b):
    return np.einsum("i,j->", a, b)


def products_left_apart(a, b):
    return a * b


def loop_stops_before_last(a, b):
    total = 0.0
    for i in range(len(a) - 1):
        total += a[i] * b[i]
    return total


def loop_starts_at_one(a, b):
    total = 0.0
    for i in range(1, len(a)):
        total += a[i] * b[i]
    return total


def total_overwritten(a, b):
    total = 0.0
    for x, y in zip(a, b, strict=False):
        total = x * y
    return total


def mean_of_products(a, b):
    return np.mean(a * b)


def b_read_backwards(a, b):
    return sum(a[i] * b[-1 - i] for i in range(len(a)))


def return_inside_loop(a, b):
    total = 0.0
    for i in range(len(a)):
        total += a[i] * b[i]
        return total


def first_product_twice(a, b):
    total = a[0] * b[0]
    for x, y in zip(a, b, strict=False):
        total += x * y
    return total


def stops_at_a_zero(a, b):
    # "a zero adds nothing, so I can leave the loop"
    total = 0.0
    for x, y in zip(a, b, strict=False):
        if x == 0 or y == 0:
            break
        total += x * y
    return total


def whole_numbers_only(a, b):
    return sum(int(x * y) for x, y in zip(a, b, strict=False))


def products_without_sign(a, b):
    return np.abs(a * b).sum()


def plain_loop(a, b):
    total = 0.0
    for i in range(len(a)):
        total += a[i] * b[i]
    return total


def exact_sum_of_zip(a, b):
    return math.fsum(float(x) * float(y) for x, y in zip(a, b, strict=False))


def matmul_of_vectors(a, b):
    return np.asarray(a) @ np.asarray(b)


def einsum_one_index(a, b):
    return np.einsum("i,i->", a, b)


def row_times_column(a, b):
    row = np.asarray(a).reshape(1, -1)
    column = np.asarray(b).reshape(-1, 1)
    return (row @ column).item()


def halves_added(a, b):
    def part(start, stop):
        if stop - start == 0:
            return 0.0
        if stop - start == 1:
            return float(a[start]) * float(b[start])
        middle = (start + stop) // 2
        return part(start, middle) + part(middle, stop)

    return part(0, len(a))


def vectorized_product(a, b):
    def times(x, y):
        return float(x) * float(y)

    return np.vectorize(times, otypes=[float])(a, b).sum()


# --- all_scores ---


def keys_down(q, k):
    return k @ q.T


def queries_with_queries(q, k):
    return q @ q.T


def no_transpose(q, k):
    return q @ k


def scores_scaled_too_early(q, k):
    return q @ k.T / math.sqrt(q.shape[1])


def pairs_by_position(q, k):
    # pairs query i with key i instead of with every key
    return np.array([[a @ b] for a, b in zip(q, k, strict=False)])


def reshape_for_transpose(q, k):
    return q @ k.reshape(k.shape[1], k.shape[0])


def features_counted_by_queries(q, k):
    scores = np.zeros((len(q), len(k)))
    for i in range(len(q)):
        for j in range(len(k)):
            for f in range(min(len(q), q.shape[1])):
                scores[i, j] += q[i, f] * k[j, f]
    return scores


def square_table_filled(q, k):
    scores = np.zeros((len(q), len(q)))
    for i in range(len(q)):
        for j in range(len(q)):
            scores[i, j] = q[i] @ k[j]
    return scores


def upper_half_copied_down(q, k):
    # "a dot product is symmetric, so I only need half of the table"
    scores = np.zeros((len(q), len(k)))
    for i in range(len(q)):
        for j in range(len(k)):
            if j < i and j < len(q) and i < len(k):
                scores[i, j] = scores[j, i]
            else:
                scores[i, j] = q[i] @ k[j]
    return scores


def single_rows_squeezed(q, k):
    return np.squeeze(q @ k.T)


def products_summed_over_keys(q, k):
    return (q[:, None, :] * k[None, :, :]).sum(axis=1)


def matmul_transposed(q, k):
    return q @ k.T


def einsum_two_tables(q, k):
    return np.einsum("if,jf->ij", q, k)


def lists_of_scores(q, k):
    return [[sum(float(x) * float(y) for x, y in zip(a, b, strict=False)) for b in k] for a in q]


def triple_loop(q, k):
    n_query, d = q.shape
    n_key = k.shape[0]
    scores = np.zeros((n_query, n_key))
    for f in range(d):
        for j in range(n_key):
            for i in range(n_query):
                scores[i, j] += q[i, f] * k[j, f]
    return scores


def broadcast_and_sum(q, k):
    return (q[:, np.newaxis, :] * k[np.newaxis, :, :]).sum(axis=-1)


def keys_down_then_turned(q, k):
    keys_first = np.dot(k, np.transpose(q))
    return np.swapaxes(keys_first, 0, 1)


def outer_products_added(q, k):
    scores = np.zeros((len(q), len(k)))
    for feature in range(q.shape[1]):
        scores = scores + np.outer(q[:, feature], k[:, feature])
    return scores


def scores_in_single_precision(q, k):
    return np.asarray(q, dtype=np.float32) @ np.asarray(k, dtype=np.float32).T


# --- cosine_similarity ---


def roots_forgotten(a, b):
    if not a.any() or not b.any():
        return 0.0
    return a @ b / ((a @ a) * (b @ b))


def length_is_number_of_features(a, b):
    if not a.any() or not b.any():
        return 0.0
    return a @ b / (len(a) * len(b))


def no_zero_guard(a, b):
    return a @ b / (np.linalg.norm(a) * np.linalg.norm(b))


def guard_for_a_only(a, b):
    if np.linalg.norm(a) == 0:
        return 0.0
    return a @ b / np.linalg.norm(a) / np.linalg.norm(b)


def cosine_distance(a, b):
    lengths = np.linalg.norm(a) * np.linalg.norm(b)
    if lengths == 0:
        return 0.0
    return 1 - a @ b / lengths


def opposite_counts_as_alike(a, b):
    lengths = np.linalg.norm(a) * np.linalg.norm(b)
    return abs(a @ b) / lengths if lengths > 0 else 0.0


def one_length_only(a, b):
    length = math.sqrt(sum(x * x for x in a))
    if length == 0:
        return 0.0
    return sum(x * y for x, y in zip(a, b, strict=False)) / length


def sum_norms(a, b):
    lengths = np.abs(a).sum() * np.abs(b).sum()
    if lengths == 0:
        return 0.0
    return a @ b / lengths


def small_number_in_denominator(a, b):
    return a @ b / (np.linalg.norm(a) * np.linalg.norm(b) + 1e-6)


def any_zero_feature_counts(a, b):
    # wants "is the vector zero", asks "is one feature zero"
    if not np.all(a) or not np.all(b):
        return 0.0
    return a @ b / (np.linalg.norm(a) * np.linalg.norm(b))


def zero_sum_counts_as_zero(a, b):
    if sum(a) == 0 or sum(b) == 0:
        return 0.0
    return a @ b / math.sqrt(a @ a) / math.sqrt(b @ b)


def centred_first(a, b):
    a = a - a.mean()
    b = b - b.mean()
    lengths = np.linalg.norm(a) * np.linalg.norm(b)
    return a @ b / lengths if lengths > 0 else 0.0


def precedence_slip(a, b):
    if not a.any() or not b.any():
        return 0.0
    return a @ b / np.linalg.norm(a) * np.linalg.norm(b)


def norms_with_guard(a, b):
    length_a = np.linalg.norm(a)
    length_b = np.linalg.norm(b)
    if length_a == 0 or length_b == 0:
        return 0.0
    return float((a / length_a) @ (b / length_b))


def hypot_lengths(a, b):
    length_a, length_b = math.hypot(*a), math.hypot(*b)
    if 0.0 in (length_a, length_b):
        return 0.0
    return math.fsum((x / length_a) * (y / length_b) for x, y in zip(a, b, strict=False))


def largest_feature_taken_out(a, b):
    def direction(vector):
        largest = max(abs(float(x)) for x in vector)
        if largest == 0:
            return [0.0] * len(vector)
        scaled = [float(x) / largest for x in vector]
        length = math.sqrt(sum(x * x for x in scaled))
        return [x / length for x in scaled]

    return sum(x * y for x, y in zip(direction(a), direction(b), strict=False))


def guard_in_np_where(a, b):
    pair = np.stack([a, b]).astype(float)
    lengths = np.sqrt(np.einsum("if,if->i", pair, pair))[:, None]
    units = pair / np.where(lengths > 0, lengths, 1.0)
    return np.einsum("f,f->", units[0], units[1])


def loop_with_three_sums(a, b):
    dot = square_a = square_b = 0.0
    for x, y in zip(a, b, strict=False):
        dot += x * y
        square_a += x * x
        square_b += y * y
    if square_a == 0 or square_b == 0:
        return 0.0
    return dot / (math.sqrt(square_a) * math.sqrt(square_b))


def law_of_cosines(a, b):
    length_a, length_b = np.linalg.norm(a), np.linalg.norm(b)
    if not (length_a and length_b):
        return 0.0
    apart = np.linalg.norm(a / length_a - b / length_b)
    return 1.0 - 0.5 * apart * apart


# --- best_key ---


def best_query_for_each_key(q, k):
    return np.argmax(q @ k.T, axis=0)


def worst_key(q, k):
    return np.argmin(q @ k.T, axis=1)


def score_not_index(q, k):
    return np.max(q @ k.T, axis=1)


def index_from_one(q, k):
    return np.argmax(q @ k.T, axis=1) + 1


def argmax_of_whole_table(q, k):
    return np.argmax(q @ k.T)


def largest_without_sign(q, k):
    return np.argmax(np.abs(q @ k.T), axis=1)


def highest_cosine(q, k):
    unit = k / np.maximum(np.linalg.norm(k, axis=1, keepdims=True), 1e-12)
    return np.argmax(q @ unit.T, axis=1)


def nearest_key(q, k):
    apart = ((q[:, None, :] - k[None, :, :]) ** 2).sum(axis=-1)
    return apart.argmin(axis=1)


def best_starts_at_zero(q, k):
    result = []
    for query in q:
        best, best_score = 0, 0.0
        for j, key in enumerate(k):
            score = query @ key
            if score > best_score:
                best, best_score = j, score
        result.append(best)
    return np.array(result)


def best_kept_between_queries(q, k):
    result = []
    best, best_score = 0, -np.inf
    for query in q:
        for j in range(len(k)):
            if query @ k[j] > best_score:
                best, best_score = j, query @ k[j]
        result.append(best)
    return np.array(result)


def last_key_never_asked(q, k):
    result = []
    for query in q:
        best = 0
        for j in range(1, len(k) - 1):
            if query @ k[j] > query @ k[best]:
                best = j
        result.append(best)
    return result


def score_compared_with_neighbour(q, k):
    result = []
    for query in q:
        scores = k @ query
        best = 0
        for j in range(1, len(scores)):
            if scores[j] > scores[j - 1]:
                best = j
        result.append(best)
    return result


def first_of_argsort(q, k):
    # forgets that argsort starts with the lowest
    return np.argsort(q @ k.T, axis=1)[:, 0]


def argmax_along_keys(q, k):
    return np.argmax(q @ k.T, axis=-1)


def argmax_of_einsum(q, k):
    scores = np.einsum("jf,if->ji", k, q)
    return scores.argmax(axis=0)


def loops_from_minus_infinity(q, k):
    result = np.zeros(len(q), dtype=int)
    for i in range(len(q)):
        highest = -math.inf
        for j in range(len(k)):
            score = 0.0
            for feature in range(q.shape[1]):
                score += q[i, feature] * k[j, feature]
            if score > highest:
                highest = score
                result[i] = j
    return result


def max_with_a_key(q, k):
    answers = []
    for query in q:
        scores = [sum(x * y for x, y in zip(query, key, strict=False)) for key in k]
        answers.append(max(range(len(scores)), key=scores.__getitem__))
    return answers


def index_of_the_max(q, k):
    rows = (q[:, None, :] * k).sum(axis=-1).tolist()
    return [row.index(max(row)) for row in rows]


def vectorized_over_queries(q, k):
    def one(query):
        return int(np.argmax(k @ query))

    return np.vectorize(one, signature="(d)->()", otypes=[int])(q)


# --- project ---


def keys_before_queries(x, wq, wk, wv):
    return x @ wk, x @ wq, x @ wv


def values_first(x, wq, wk, wv):
    return x @ wv, x @ wk, x @ wq


def tokens_as_columns(x, wq, wk, wv):
    return (wq.T @ x.T, wk.T @ x.T, wv.T @ x.T)


def weights_turned(x, wq, wk, wv):
    return x @ wq.T, x @ wk.T, x @ wv.T


def tokens_turned(x, wq, wk, wv):
    return x.T @ wq, x.T @ wk, x.T @ wv


def query_weights_twice(x, wq, wk, wv):
    q = x @ wq
    k = x @ wq
    v = x @ wv
    return q, k, v


def values_made_of_keys(x, wq, wk, wv):
    q = x @ wq
    k = x @ wk
    v = k @ wv
    return q, k, v


def stacked_weights_cut_by_d(x, wq, wk, wv):
    # one product for all, cut into three pieces of width d
    d = wq.shape[1]
    together = x @ np.hstack([wq, wk, wv])
    return together[:, :d], together[:, d : 2 * d], together[:, 2 * d : 3 * d]


def split_in_thirds(x, wq, wk, wv):
    together = x @ np.concatenate([wq, wk, wv], axis=1)
    return tuple(np.array_split(together, 3, axis=1))


def loose_ends_squeezed(x, wq, wk, wv):
    return tuple(np.squeeze(x @ w) for w in (wq, wk, wv))


def first_token_only(x, wq, wk, wv):
    return x[0] @ wq, x[0] @ wk, x[0] @ wv


def projections_scaled(x, wq, wk, wv):
    scale = 1 / math.sqrt(wq.shape[1])
    return x @ wq * scale, x @ wk * scale, x @ wv


def values_have_width_of_keys(x, wq, wk, wv):
    q, k, v = (np.zeros((len(x), wq.shape[1])) for _ in range(3))
    for i in range(len(x)):
        for j in range(min(wq.shape[1], wv.shape[1])):
            q[i, j] = x[i] @ wq[:, j]
            k[i, j] = x[i] @ wk[:, j]
            v[i, j] = x[i] @ wv[:, j]
    return q, k, v


def three_products(x, wq, wk, wv):
    return x @ wq, x @ wk, x @ wv


def einsum_for_each_weight(x, wq, wk, wv):
    return [np.einsum("nm,md->nd", x, w) for w in (wq, wk, wv)]


def loops_inside_helper(x, wq, wk, wv):
    def times(w):
        out = np.zeros((len(x), w.shape[1]))
        for i in range(len(x)):
            for j in range(w.shape[1]):
                for m in range(w.shape[0]):
                    out[i, j] += x[i, m] * w[m, j]
        return out

    return times(wq), times(wk), times(wv)


def rows_of_lists(x, wq, wk, wv):
    answers = []
    for w in (wq, wk, wv):
        columns = list(zip(*w.tolist(), strict=False))
        answers.append(
            [[sum(a * b for a, b in zip(row, column, strict=False)) for column in columns]
             for row in x.tolist()]
        )
    return tuple(answers)


def stacked_weights_cut_right(x, wq, wk, wv):
    together = x @ np.concatenate([wq, wk, wv], axis=1)
    first = wq.shape[1]
    second = first + wk.shape[1]
    q, k, v = np.split(together, [first, second], axis=1)
    return q, k, v


def token_by_token(x, wq, wk, wv):
    queries, keys, values = [], [], []
    for token in x:
        queries.append(wq.T @ token)
        keys.append(wk.T @ token)
        values.append(wv.T @ token)
    return np.stack(queries), np.stack(keys), np.stack(values)


# --- fault_all_scores ---


def fault_left_in_place(q, k):
    scores = np.zeros((len(q), len(k)))
    for i in range(len(q)):
        total = 0.0
        for j in range(len(k)):
            for feature in range(len(q[i])):
                total += q[i][feature] * k[j][feature]
            scores[i][j] = total
    return scores


def total_reset_too_deep(q, k):
    scores = np.zeros((len(q), len(k)))
    for i in range(len(q)):
        for j in range(len(k)):
            for feature in range(len(q[i])):
                total = 0.0
                total += q[i][feature] * k[j][feature]
            scores[i][j] = total
    return scores


def total_reset_once(q, k):
    scores = np.zeros((len(q), len(k)))
    total = 0.0
    for i in range(len(q)):
        for j in range(len(k)):
            for feature in range(len(q[i])):
                total += q[i][feature] * k[j][feature]
            scores[i][j] = total
    return scores


def plus_taken_away(q, k):
    scores = np.zeros((len(q), len(k)))
    for i in range(len(q)):
        total = 0.0
        for j in range(len(k)):
            for feature in range(len(q[i])):
                total = q[i][feature] * k[j][feature]
            scores[i][j] = total
    return scores


def mended_but_features_by_queries(q, k):
    scores = np.zeros((len(q), len(k)))
    for i in range(len(q)):
        for j in range(len(k)):
            total = 0.0
            for feature in range(len(q)):
                total += q[i][feature] * k[j][feature]
            scores[i][j] = total
    return scores


def mended_but_one_feature_short(q, k):
    scores = np.zeros((len(q), len(k)))
    for i in range(len(q)):
        for j in range(len(k)):
            total = 0.0
            for feature in range(len(q[i]) - 1):
                total += q[i][feature] * k[j][feature]
            scores[i][j] = total
    return scores


def previous_score_taken_off(q, k):
    # takes off the score before instead of the total before: right for two keys
    scores = np.zeros((len(q), len(k)))
    for i in range(len(q)):
        total = 0.0
        for j in range(len(k)):
            for feature in range(len(q[i])):
                total += q[i][feature] * k[j][feature]
            scores[i][j] = total - scores[i][j - 1] if j > 0 else total
    return scores


def total_stored_in_the_inner_loop_of_i(q, k):
    scores = np.zeros((len(q), len(k)))
    for i in range(len(q)):
        for j in range(len(k)):
            total = 0.0
            for feature in range(len(q[i])):
                total += q[i][feature] * k[j][feature]
        scores[i][j] = total
    return scores


def mended_but_keys_down(q, k):
    scores = np.zeros((len(k), len(q)))
    for i in range(len(q)):
        for j in range(len(k)):
            total = 0.0
            for feature in range(len(q[i])):
                total += q[i][feature] * k[j][feature]
            scores[j][i] = total
    return scores


def total_moved_in(q, k):
    scores = np.zeros((len(q), len(k)))
    for i in range(len(q)):
        for j in range(len(k)):
            total = 0.0
            for feature in range(len(q[i])):
                total += q[i][feature] * k[j][feature]
            scores[i][j] = total
    return scores


def total_reset_after_storing(q, k):
    scores = np.zeros((len(q), len(k)))
    for i in range(len(q)):
        total = 0.0
        for j in range(len(k)):
            for feature in range(len(q[i])):
                total += q[i][feature] * k[j][feature]
            scores[i][j] = total
            total = 0.0
    return scores


def added_into_the_table(q, k):
    scores = np.zeros((len(q), len(k)))
    for i in range(len(q)):
        for j in range(len(k)):
            for feature in range(len(q[i])):
                scores[i][j] += q[i][feature] * k[j][feature]
    return scores


def total_of_a_generator(q, k):
    scores = np.zeros((len(q), len(k)))
    for i in range(len(q)):
        for j in range(len(k)):
            scores[i][j] = sum(q[i][feature] * k[j][feature] for feature in range(len(q[i])))
    return scores


def innermost_loop_replaced(q, k):
    scores = np.zeros((len(q), len(k)))
    for i, query in enumerate(q):
        for j, key in enumerate(k):
            scores[i, j] = np.dot(query, key)
    return scores


WRONG = {
    "predict_score_shape": [
        ((5, 7), "transposed"),
        ((7, 3), "features-kept"),
        ((7, 12), "not-projected"),
        ((3, 3), "features-kept"),
        ((7, 7), "queries-with-queries"),
        ((12, 12), "not-projected"),
        (35, "count-not-shape"),
        ((7, 5, 3), "features-kept"),
        ((1, 5), "one-token-only"),
    ],
    "dot_product": [
        (all_pairs_of_features, "product-of-sums"),
        (products_left_apart, "elementwise"),
        (loop_stops_before_last, "feature-left-out"),
        (loop_starts_at_one, "feature-left-out"),
        (total_overwritten, "one-product-only"),
        (mean_of_products, "mean-not-sum"),
        (b_read_backwards, "reversed"),
        (return_inside_loop, "one-product-only"),
        (first_product_twice, "total-not-from-zero"),
        (stops_at_a_zero, "stops-at-zero"),
        (whole_numbers_only, "rounded"),
        (products_without_sign, "sign-dropped"),
    ],
    "all_scores": [
        (keys_down, "transposed"),
        (queries_with_queries, "queries-with-queries"),
        (no_transpose, "no-transpose"),
        (scores_scaled_too_early, "scaled-already"),
        (pairs_by_position, "pairs-only"),
        (reshape_for_transpose, "reshape-not-transpose"),
        (features_counted_by_queries, "features-left-out"),
        (square_table_filled, "square-only"),
        (upper_half_copied_down, "half-copied"),
        (single_rows_squeezed, "axis-of-one-lost"),
        (products_summed_over_keys, "wrong-axis"),
    ],
    "cosine_similarity": [
        (roots_forgotten, "squared-norms"),
        (length_is_number_of_features, "length-is-count"),
        (no_zero_guard, "nan-for-zero-vector"),
        (guard_for_a_only, "nan-for-zero-vector"),
        (cosine_distance, "distance-not-similarity"),
        (opposite_counts_as_alike, "sign-dropped"),
        (one_length_only, "one-norm-missing"),
        (sum_norms, "l1-norm"),
        (small_number_in_denominator, "epsilon-in-the-divisor"),
        (any_zero_feature_counts, "zero-vector-misjudged"),
        (zero_sum_counts_as_zero, "zero-vector-misjudged"),
        (centred_first, "centred"),
        (precedence_slip, "brackets-missing"),
    ],
    "best_key": [
        (best_query_for_each_key, "best-query-per-key"),
        (worst_key, "lowest"),
        (score_not_index, "score-not-index"),
        (index_from_one, "index-from-one"),
        (argmax_of_whole_table, "one-for-all"),
        (largest_without_sign, "largest-size"),
        (highest_cosine, "by-angle"),
        (nearest_key, "nearest-by-distance"),
        (best_starts_at_zero, "starts-at-zero"),
        (best_kept_between_queries, "best-carried-over"),
        (last_key_never_asked, "key-left-out"),
        (score_compared_with_neighbour, "compared-with-neighbour"),
        (first_of_argsort, "lowest"),
    ],
    "project": [
        (keys_before_queries, "queries-keys-swapped"),
        (values_first, "another-order"),
        (tokens_as_columns, "weights-first"),
        (weights_turned, "weights-first"),
        (tokens_turned, "tokens-turned"),
        (query_weights_twice, "weights-shared"),
        (values_made_of_keys, "one-after-another"),
        (stacked_weights_cut_by_d, "widths-mixed-up"),
        (split_in_thirds, "widths-mixed-up"),
        (loose_ends_squeezed, "axis-of-one-lost"),
        (first_token_only, "one-token-only"),
        (projections_scaled, "scaled-already"),
        (values_have_width_of_keys, "widths-mixed-up"),
    ],
    "fault_all_scores": [
        (fault_left_in_place, "total-not-reset"),
        (total_reset_too_deep, "one-feature-only"),
        (total_reset_once, "total-never-reset"),
        (plus_taken_away, "one-feature-only"),
        (mended_but_features_by_queries, "features-left-out"),
        (mended_but_one_feature_short, "features-left-out"),
        (previous_score_taken_off, "score-before-taken-off"),
        (total_stored_in_the_inner_loop_of_i, "last-key-only"),
        (mended_but_keys_down, "transposed"),
    ],
}

RIGHT = {
    "predict_score_shape": [(7, 5), [7, 5], np.array([7, 5]), (7.0, 5.0), np.zeros((7, 5)).shape],
    "dot_product": [
        plain_loop,
        exact_sum_of_zip,
        matmul_of_vectors,
        einsum_one_index,
        row_times_column,
        halves_added,
        vectorized_product,
    ],
    "all_scores": [
        matmul_transposed,
        einsum_two_tables,
        lists_of_scores,
        triple_loop,
        broadcast_and_sum,
        keys_down_then_turned,
        outer_products_added,
        scores_in_single_precision,
    ],
    "cosine_similarity": [
        norms_with_guard,
        hypot_lengths,
        largest_feature_taken_out,
        guard_in_np_where,
        loop_with_three_sums,
        law_of_cosines,
    ],
    "best_key": [
        argmax_along_keys,
        argmax_of_einsum,
        loops_from_minus_infinity,
        max_with_a_key,
        index_of_the_max,
        vectorized_over_queries,
    ],
    "project": [
        three_products,
        einsum_for_each_weight,
        loops_inside_helper,
        rows_of_lists,
        stacked_weights_cut_right,
        token_by_token,
    ],
    "fault_all_scores": [
        total_moved_in,
        total_reset_after_storing,
        added_into_the_table,
        total_of_a_generator,
        innermost_loop_replaced,
    ],
}
