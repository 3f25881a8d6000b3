// Whether an integer function has a program of at most so many operations: every program is tried.
//
// Standard input: the most operations; how many constants, and these; how many variables, how many
// points; of every point the variables and the value. Standard output, one line: "none PROGRAMS", or
// "found OPERATIONS: PROGRAM" as Python assignments; PROGRAMS counts prefixes, all operations but
// the last, which is solved for its constant.
//
// A program is seen at some of the points only, so that a value is a short vector and values that
// are equal there are one. Whatever is right at all points is right at these; what is right at
// these and wrong elsewhere adds the point where it is wrong, and the search begins again. "none"
// is hence shown for all points.
//
// Values derived one after the other are a set, in whatever order: a candidate that was passed over
// is not tried again below (`segments`). A value equal to an earlier one, or one with no use, makes a
// program with a shorter equal; lengths are tried from 1 on, so that such ones need no second look.

#include <immintrin.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <numeric>
#include <optional>
#include <string>
#include <vector>

using std::int32_t, std::int64_t, std::uint32_t, std::uint64_t, std::vector;

enum Op : uint8_t { ADD, SUB, MUL, DIV, MOD, AND, OR, XOR, SHL, SHR, MIN, MAX, LT, LE, EQ, NE, SELECT };
const char* const TEXT[] = {"+", "-", "*", "//", "%", "&", "|", "^", "<<", ">>",
                            "min", "max", "<", "<=", "==", "!="};
const bool COMMUTES[] = {true, false, true, false, false, true, true, true, false, false,
                         true, true, false, false, true, true};

bool fits(int64_t v) { return v == static_cast<int32_t>(v); }

// A value of the program, or a constant.
struct Operand {
  bool constant;
  int32_t value;
};

// How a value is made.
struct Made {
  Op op;
  Operand a, b, c;
};

struct Problem {
  int operations, variables;
  vector<int32_t> constants;
  vector<vector<int32_t>> points;  // the variables, then the value
};

// One operation; nothing where it is undefined or leaves 32 bits.
std::optional<int32_t> evaluate(Op op, int64_t a, int64_t b, int64_t c) {
  int64_t r = 0;
  switch (op) {
    case ADD: r = a + b; break;
    case SUB: r = a - b; break;
    case MUL: r = a * b; break;
    case DIV:
    case MOD: {
      if (b <= 0) return {};
      int64_t m = a % b;
      if (m < 0) m += b;
      r = op == MOD ? m : (a - m) / b;
      break;
    }
    case AND: r = a & b; break;
    case OR: r = a | b; break;
    case XOR: r = a ^ b; break;
    case SHL:
    case SHR:
      if (b < 0 || b > 31) return {};
      r = op == SHL ? a * (int64_t{1} << b) : a >> b;
      break;
    case MIN: r = std::min(a, b); break;
    case MAX: r = std::max(a, b); break;
    case LT: r = a < b; break;
    case LE: r = a <= b; break;
    case EQ: r = a == b; break;
    case NE: r = a != b; break;
    case SELECT: r = a ? b : c; break;
  }
  if (!fits(r)) return {};
  return static_cast<int32_t>(r);
}

std::string name(const Operand& o, int variables) {
  if (o.constant) return std::to_string(o.value);
  if (o.value < variables) return {static_cast<char>('i' + o.value)};
  std::string text = "t";
  return text += std::to_string(o.value - variables + 1);
}

std::string text(const vector<Made>& program, int variables) {
  std::string all;
  for (size_t k = 0; k < program.size(); ++k) {
    const Made& m = program[k];
    const std::string a = name(m.a, variables), b = name(m.b, variables);
    all += (k ? "; t" : "t") + std::to_string(k + 1) + " = ";
    if (m.op == SELECT)
      all += b + " if " + a + " else " + name(m.c, variables);
    else if (m.op == MIN || m.op == MAX)
      all += std::string(TEXT[m.op]) + "(" + a + ", " + b + ")";
    else
      all += a + " " + TEXT[m.op] + " " + b;
  }
  return all;
}

// The first point at which a program is wrong; the number of points where there is none.
size_t wrong_at(const Problem& problem, const vector<Made>& program) {
  vector<int32_t> values(problem.variables + program.size());
  auto get = [&](const Operand& o) { return o.constant ? o.value : values[o.value]; };
  for (size_t p = 0; p < problem.points.size(); ++p) {
    std::copy_n(problem.points[p].begin(), problem.variables, values.begin());
    for (size_t k = 0; k < program.size(); ++k) {
      const Made& m = program[k];
      const auto r = evaluate(m.op, get(m.a), get(m.b), m.op == SELECT ? get(m.c) : 0);
      if (!r) return p;
      values[problem.variables + k] = *r;
    }
    if (values.back() != problem.points[p].back()) return p;
  }
  return problem.points.size();
}

// The search at S points, for programs of exactly `length` operations.
template <int S>
class Search {
 public:
  Search(const Problem& problem, const vector<size_t>& chosen, int length)
      : problem_(problem), n_(problem.variables), length_(length) {
    vector<size_t> sorted = chosen;
    auto value = [&](size_t p) { return problem.points[p].back(); };
    std::stable_sort(sorted.begin(), sorted.end(),
                     [&](size_t a, size_t b) { return value(a) < value(b); });
    pool_.resize(n_);
    for (int s = 0; s < S; ++s) {  // each vector of eight runs over all the values, upwards
      const auto place = static_cast<size_t>(s % 8 * (S / 8) + s / 8) * sorted.size() / S;
      const auto& point = problem.points[sorted[place]];
      for (int v = 0; v < n_; ++v) pool_[v].at[s] = point[v];
      target_.at[s] = point.back();
    }
    least_ = *std::min_element(target_.at, target_.at + S);
    most_ = *std::max_element(target_.at, target_.at + S);
    for (int32_t c : problem.constants) {
      pool_.emplace_back();
      std::fill_n(pool_.back().at, S, c);
    }
    constants_ = pool_.size() - n_;
    state_.assign(pool_.begin(), pool_.begin() + n_);
    fill_table();
  }

  // A program that is right at these points.
  std::optional<vector<Made>> run(uint64_t& programs) {
    const size_t begin = pool_.size();
    for (int v = 0; v < n_ && length_ > 1; ++v) grow(v);
    descend({{begin, pool_.size()}}, 0);
    programs += programs_;
    return found_;
  }

 private:
  struct Value {
    alignas(32) int32_t at[S]{};
    Made made{};
    uint32_t uses = 0;  // of which values of the state it is made, a bit each
    bool condition = false;
  };
  struct Segment {
    size_t begin, end;  // candidates of the pool
  };

  const Problem& problem_;
  const int n_, length_;
  Value target_;
  int32_t least_, most_;
  vector<Value> pool_;   // variables, constants, then the candidates, newest last: all distinct
  vector<Value> state_;  // the variables, and what the program has computed
  size_t constants_ = 0;
  vector<uint32_t> table_;  // places in the pool, and 1, by their hash
  uint64_t programs_ = 0;
  std::optional<vector<Made>> found_;

  // -- the pool: a set whose newest members are taken out again ------------------------------------

  static size_t hash(const Value& v) {
    uint64_t h = 0x9e3779b97f4a7c15ULL;
    for (int s = 0; s < S; s += 2) {
      uint64_t two;
      std::memcpy(&two, v.at + s, sizeof two);
      h = (h ^ two) * 0xff51afd7ed558ccdULL;
      h ^= h >> 32;
    }
    return h;
  }

  void enter(size_t k) {
    const size_t mask = table_.size() - 1;
    size_t at = hash(pool_[k]) & mask;
    while (table_[at]) at = (at + 1) & mask;
    table_[at] = static_cast<uint32_t>(k + 1);
  }

  bool known(const Value& v) const {
    const size_t mask = table_.size() - 1;
    for (size_t at = hash(v) & mask; table_[at]; at = (at + 1) & mask) {
      const Value& w = pool_[table_[at] - 1];
      if (w.condition >= v.condition && !std::memcmp(w.at, v.at, sizeof v.at)) return true;
    }
    return false;
  }

  void add(const Value& v) {
    if (known(v)) return;
    pool_.push_back(v);
    if (2 * pool_.size() > table_.size()) {
      fill_table();
    } else {
      enter(pool_.size() - 1);
    }
  }

  void fill_table() {
    table_.assign(std::bit_ceil(4 * pool_.size() + 1), 0);
    for (size_t k = 0; k < pool_.size(); ++k) enter(k);
  }

  void shrink(size_t size) {
    const size_t mask = table_.size() - 1;
    while (pool_.size() > size) {
      size_t at = hash(pool_.back()) & mask;
      while (table_[at] != pool_.size()) at = (at + 1) & mask;
      table_[at] = 0;
      pool_.pop_back();
    }
  }

  // -- candidates ----------------------------------------------------------------------------------

  template <class F>
  static bool fill(Value& out, const Value& a, const Value& b, F f) {
    bool fits_all = true;
    for (int s = 0; s < S; ++s) {
      const int64_t r = f(static_cast<int64_t>(a.at[s]), static_cast<int64_t>(b.at[s]));
      out.at[s] = static_cast<int32_t>(r);
      fits_all &= r == out.at[s];
    }
    return fits_all;
  }

  template <class F>
  static bool fill32(Value& out, const Value& a, const Value& b, F f) {
    for (int s = 0; s < S; ++s) out.at[s] = f(a.at[s], b.at[s]);
    return true;
  }

  static bool compute(Op op, Value& out, const Value& a, const Value& b) {
    switch (op) {
      case ADD: return fill(out, a, b, [](int64_t x, int64_t y) { return x + y; });
      case SUB: return fill(out, a, b, [](int64_t x, int64_t y) { return x - y; });
      case MUL: return fill(out, a, b, [](int64_t x, int64_t y) { return x * y; });
      case DIV:
      case MOD:
        if (*std::min_element(b.at, b.at + S) <= 0) return false;
        // A quotient of 32 bits, rounded to a double, is never rounded up to an integer.
        for (int s = 0; s < S; ++s)
          out.at[s] = static_cast<int32_t>(
              std::floor(static_cast<double>(a.at[s]) / static_cast<double>(b.at[s])));
        if (op == MOD)
          for (int s = 0; s < S; ++s)
            out.at[s] = static_cast<int32_t>(a.at[s] - int64_t{out.at[s]} * b.at[s]);
        return true;
      case AND: return fill32(out, a, b, [](int32_t x, int32_t y) { return x & y; });
      case OR: return fill32(out, a, b, [](int32_t x, int32_t y) { return x | y; });
      case XOR: return fill32(out, a, b, [](int32_t x, int32_t y) { return x ^ y; });
      case SHL:
      case SHR:
        for (int s = 0; s < S; ++s)
          if (b.at[s] < 0 || b.at[s] > 31) return false;
        if (op == SHR) return fill32(out, a, b, [](int32_t x, int32_t y) { return x >> y; });
        return fill(out, a, b, [](int64_t x, int64_t y) { return x * (int64_t{1} << y); });
      case MIN: return fill32(out, a, b, [](int32_t x, int32_t y) { return x < y ? x : y; });
      case MAX: return fill32(out, a, b, [](int32_t x, int32_t y) { return x > y ? x : y; });
      case LT: return fill32(out, a, b, [](int32_t x, int32_t y) { return int32_t{x < y}; });
      case LE: return fill32(out, a, b, [](int32_t x, int32_t y) { return int32_t{x <= y}; });
      case EQ: return fill32(out, a, b, [](int32_t x, int32_t y) { return int32_t{x == y}; });
      case NE: return fill32(out, a, b, [](int32_t x, int32_t y) { return int32_t{x != y}; });
      case SELECT: break;
    }
    return false;
  }

  // A value of the state, or one of the constants: the operands that a candidate may have.
  struct Source {
    const Value* value;
    Operand operand;
    uint32_t bit;
  };

  vector<Source> sources() {
    vector<Source> all;
    for (size_t k = 0; k < state_.size(); ++k)
      all.push_back({&state_[k], {false, static_cast<int32_t>(k)}, bit(k)});
    for (size_t k = 0; k < constants_; ++k)
      all.push_back({&fixed_[k], {true, fixed_[k].at[0]}, 0});
    return all;
  }

  vector<Value> fixed_;  // the constants: the pool moves as it grows

  uint32_t bit(size_t place) const {
    return place < static_cast<size_t>(n_) ? 0 : uint32_t{1} << place;
  }

  // Put what is made of the state's value at `place`, earlier ones and constants into the pool.
  void grow(size_t place) {
    if (fixed_.empty()) fixed_.assign(pool_.begin() + n_, pool_.begin() + n_ + constants_);
    vector<Source> all = sources();
    const Source own = all[place];
    all.erase(all.begin() + place + 1, all.begin() + state_.size());  // variables still to come
    Value out;
    auto put = [&](Op op, const Source& a, const Source& b) {
      if (!compute(op, out, *a.value, *b.value)) return;
      const bool both = a.value->condition && b.value->condition;
      out.condition = (op >= LT && op <= NE) || ((op == AND || op == OR) && both);
      out.made = {op, a.operand, b.operand, {}};
      out.uses = a.bit | b.bit;
      add(out);
    };
    auto select = [&](const Source& c, const Source& a, const Source& b) {
      for (int s = 0; s < S; ++s) out.at[s] = c.value->at[s] ? a.value->at[s] : b.value->at[s];
      out.condition = false;
      out.made = {SELECT, c.operand, a.operand, b.operand};
      out.uses = a.bit | b.bit | c.bit;
      add(out);
    };
    for (const Source& other : all) {
      for (int op = ADD; op < SELECT; ++op) {
        put(static_cast<Op>(op), own, other);
        if (!COMMUTES[op]) put(static_cast<Op>(op), other, own);
      }
    }
    for (const Source& c : all) {
      if (!c.value->condition) continue;
      for (const Source& a : all) {
        if (c.value == own.value) {
          for (const Source& b : all) select(c, a, b);
        } else {
          select(c, own, a);
          select(c, a, own);
        }
      }
    }
  }

  // -- programs: candidates one after the other, then the last operation ----------------------------

  void descend(const vector<Segment>& segments, uint32_t unused) {
    const int left = length_ - static_cast<int>(state_.size() - n_);
    if (left == 1) {
      ++programs_;
      finish(unused);
      return;
    }
    const size_t place = state_.size();
    for (size_t k = 0; k < segments.size() && !found_; ++k) {
      for (size_t at = segments[k].begin; at < segments[k].end && !found_; ++at) {
        const uint32_t rest = (unused & ~pool_[at].uses) | bit(place);
        if (left == 2 && !can_finish(rest, pool_[at].condition)) continue;
        state_.push_back(pool_[at]);
        vector<Segment> below;
        const size_t size = pool_.size();
        if (left > 2) {
          below.push_back({at + 1, segments[k].end});
          below.insert(below.end(), segments.begin() + k + 1, segments.end());
          grow(place);
          below.push_back({size, pool_.size()});
        }
        descend(below, rest);
        shrink(size);
        state_.pop_back();
      }
    }
  }

  // Whether one operation can have all of these operands; the newest value may be a condition.
  bool can_finish(uint32_t unused, bool newest_is_condition) const {
    const int count = __builtin_popcount(unused);
    if (count < 3) return true;
    if (count > 3) return false;
    if (newest_is_condition) return true;
    for (size_t k = n_; k < state_.size(); ++k)
      if ((unused & bit(k)) && state_[k].condition) return true;
    return false;
  }

  void finish(uint32_t unused) {
    const int count = __builtin_popcount(unused);
    const size_t size = state_.size();
    bool conditions = false;
    for (size_t k = n_; k < size; ++k) conditions |= state_[k].condition;
    if (count == 2) {
      const size_t a = __builtin_ctz(unused);
      pair(a, size - 1);
    } else if (count == 1) {
      constant(size - 1);
      for (size_t k = 0; k < size; ++k) pair(k, size - 1);
    } else if (count == 0) {
      for (size_t k = 0; k < size; ++k) {
        constant(k);
        for (size_t l = 0; l <= k; ++l) pair(l, k);
      }
    }
    if (conditions) selects(unused);
  }

  // -- the last operation --------------------------------------------------------------------------

  static __m256i eight(const Value& v) {
    return _mm256_load_si256(reinterpret_cast<const __m256i*>(v.at));
  }
  static bool zero(__m256i v) { return _mm256_testz_si256(v, v); }
  static bool same(__m256i a, __m256i b) { return zero(_mm256_xor_si256(a, b)); }
  static bool none_negative(__m256i v) { return !_mm256_movemask_ps(_mm256_castsi256_ps(v)); }
  static __m256i next(__m256i v) {
    return _mm256_permutevar8x32_epi32(v, _mm256_setr_epi32(1, 2, 3, 4, 5, 6, 7, 7));
  }

  Operand own(size_t place) const { return {false, static_cast<int32_t>(place)}; }

  // Take a last operation if it is right at every point of the search.
  void take(Op op, Operand a, Operand b, Operand c = {true, 0}) {
    if (found_) return;
    auto get = [&](const Operand& o, int s) { return o.constant ? o.value : state_[o.value].at[s]; };
    for (int s = 0; s < S; ++s)
      if (evaluate(op, get(a, s), get(b, s), get(c, s)) != target_.at[s]) return;
    found_.emplace();
    for (size_t k = n_; k < state_.size(); ++k) found_->push_back(state_[k].made);
    found_->push_back({op, a, b, c});
  }

  void take_constant(Op op, size_t place, int64_t c) {
    if (fits(c)) take(op, own(place), {true, static_cast<int32_t>(c)});
  }

  void take_after(Op op, int64_t c, size_t place) {
    if (fits(c)) take(op, {true, static_cast<int32_t>(c)}, own(place));
  }

  // The filters look at eight points, in 32 bits that wrap: they let pass whatever is right.
  void pair(size_t left, size_t right) {
    const __m256i t = eight(target_), a = eight(state_[left]), b = eight(state_[right]);
    const Operand x = own(left), y = own(right);
    if (same(_mm256_add_epi32(a, b), t)) take(ADD, x, y);
    if (same(_mm256_sub_epi32(a, b), t)) take(SUB, x, y);
    if (same(_mm256_sub_epi32(b, a), t)) take(SUB, y, x);
    if (same(_mm256_and_si256(a, b), t)) take(AND, x, y);
    if (same(_mm256_or_si256(a, b), t)) take(OR, x, y);
    if (same(_mm256_xor_si256(a, b), t)) take(XOR, x, y);
    if (same(_mm256_min_epi32(a, b), t)) take(MIN, x, y);
    if (same(_mm256_max_epi32(a, b), t)) take(MAX, x, y);
    if (same(_mm256_mullo_epi32(a, b), t)) take(MUL, x, y);
    divided(a, b, t, x, y);
    divided(b, a, t, y, x);
    if (same(_mm256_sllv_epi32(a, b), t)) take(SHL, x, y);
    if (same(_mm256_sllv_epi32(b, a), t)) take(SHL, y, x);
    if (same(_mm256_srav_epi32(a, b), t)) take(SHR, x, y);
    if (same(_mm256_srav_epi32(b, a), t)) take(SHR, y, x);
    if (least_ < 0 || most_ > 1) return;
    for (Op op : {LT, LE, EQ, NE}) {
      take(op, x, y);
      take(op, y, x);
    }
  }

  void divided(__m256i a, __m256i b, __m256i t, Operand x, Operand y) {
    const __m256i one = _mm256_set1_epi32(1), most = _mm256_sub_epi32(b, one);
    if (!none_negative(most)) return;
    const __m256i rest = _mm256_sub_epi32(a, _mm256_mullo_epi32(t, b));
    if (none_negative(_mm256_or_si256(rest, _mm256_sub_epi32(most, rest)))) take(DIV, x, y);
    if (least_ >= 0 && none_negative(_mm256_sub_epi32(most, t))) take(MOD, x, y);
  }

  // The last operation has a constant, any of 32 bits.
  void constant(size_t place) {
    const Value& value = state_[place];
    const int32_t *v = value.at, *t = target_.at;
    const __m256i V = eight(value), T = eight(target_);
    auto sameness = [&](__m256i r) { return same(r, _mm256_set1_epi32(_mm256_extract_epi32(r, 0))); };
    if (sameness(_mm256_sub_epi32(T, V))) take_constant(ADD, place, int64_t{t[0]} - v[0]);
    if (sameness(_mm256_add_epi32(T, V))) take_after(SUB, int64_t{t[0]} + v[0], place);
    if (sameness(_mm256_xor_si256(T, V))) take_constant(XOR, place, t[0] ^ v[0]);
    if (same(_mm256_mullo_epi32(V, next(T)), _mm256_mullo_epi32(next(V), T))) {
      for (int s = 0; s < S; ++s) {
        if (v[s]) {
          take_constant(MUL, place, t[s] / v[s]);
          break;
        }
      }
    }
    if (zero(_mm256_andnot_si256(V, T))) {
      int32_t c = 0;
      for (int s = 0; s < S; ++s) c |= t[s];
      take_constant(AND, place, c);
    }
    if (zero(_mm256_andnot_si256(T, V))) {
      int32_t c = 0;
      for (int s = 0; s < S; ++s) c |= t[s] & ~v[s];
      take_constant(OR, place, c);
    }
    const __m256i equal = _mm256_cmpeq_epi32(T, V);
    if (zero(_mm256_andnot_si256(equal, _mm256_xor_si256(T, _mm256_set1_epi32(most_)))))
      take_constant(MIN, place, most_);
    if (zero(_mm256_andnot_si256(equal, _mm256_xor_si256(T, _mm256_set1_epi32(least_)))))
      take_constant(MAX, place, least_);

    // The targets of eight points rise: so must the dividends of a quotient, and divisors must fall.
    const __m256i rises = _mm256_cmpgt_epi32(next(T), T);
    if (zero(_mm256_andnot_si256(_mm256_cmpgt_epi32(next(V), V), rises))) quotient(place);
    const bool positive = none_negative(V);
    const bool falls = zero(_mm256_andnot_si256(_mm256_cmpgt_epi32(V, next(V)), rises));
    if (positive && (falls || least_ < 0)) divisor(place);
    if (positive && (v[0] | v[1] | v[2] | v[3]) < 32) shifted(place);
    if (least_ >= 0) {
      const __m256i d = _mm256_abs_epi32(_mm256_sub_epi32(V, T));
      const __m256i ok = _mm256_or_si256(_mm256_cmpeq_epi32(d, _mm256_setzero_si256()),
                                         _mm256_cmpgt_epi32(d, _mm256_set1_epi32(most_)));
      if (_mm256_movemask_epi8(ok) == -1) remainder(place);
      if (none_negative(_mm256_sub_epi32(_mm256_sub_epi32(V, T), _mm256_set1_epi32(1))))
        modulus(place);
    }
    if (least_ >= 0 && most_ <= 1) compared(place);
    if (most_ <= 0) take_constant(SHR, place, 31);  // its divisor would have 33 bits
  }

  // value // c
  void quotient(size_t place) {
    int64_t from = 1, to = INT32_MAX;
    for (int s = 0; s < S; ++s) {
      // t*c <= v < (t + 1)*c
      const int64_t v = state_[place].at[s], t = target_.at[s];
      const auto up = [](int64_t a, int64_t b) { return a <= 0 ? -(-a / b) : (a + b - 1) / b; };
      const auto down = [&](int64_t a, int64_t b) { return -up(-a, b); };
      if (t > 0) to = std::min(to, down(v, t));
      if (t < 0) from = std::max(from, up(-v, -t));
      if (t + 1 > 0) from = std::max(from, down(v, t + 1) + 1);
      if (t + 1 < 0) to = std::min(to, up(-v, -t - 1) - 1);
      if ((t == 0 && v < 0) || (t == -1 && v >= 0) || from > to) return;
    }
    take_constant(DIV, place, from);
  }

  // c // value
  void divisor(size_t place) {
    int64_t from = INT32_MIN, to = INT32_MAX;
    for (int s = 0; s < S; ++s) {
      const int64_t v = state_[place].at[s], t = target_.at[s];
      if (v < 1) return;
      from = std::max(from, t * v);
      to = std::min(to, t * v + v - 1);
      if (from > to) return;
    }
    take_after(DIV, from, place);
  }

  // c << value, c >> value
  void shifted(size_t place) {
    int64_t from = INT32_MIN, to = INT32_MAX;
    for (int s = 0; s < S; ++s) {
      const int64_t v = state_[place].at[s], t = target_.at[s];
      if (v < 0 || v > 31) return;
      from = std::max(from, t * (int64_t{1} << v));
      to = std::min(to, (t + 1) * (int64_t{1} << v) - 1);
    }
    if (from <= to) take_after(SHR, from, place);
    take_after(SHL, target_.at[0] >> state_[place].at[0], place);
  }

  // value % c: c divides all differences and is above all the targets
  void remainder(size_t place) {
    int64_t g = 0;
    for (int s = 0; s < S; ++s) {
      g = std::gcd(g, int64_t{state_[place].at[s]} - target_.at[s]);
      if (g && g <= most_) return;
    }
    for (int64_t d = 1; g; ++d) {  // the greatest such c of 32 bits
      if (g % d == 0 && fits(g / d)) return take_constant(MOD, place, g / d);
    }
  }

  // The x with a*x % m = 1 % m, for a and m without common factors.
  static int64_t inverse(int64_t a, int64_t m) {
    int64_t x = 1, y = 0;
    for (int64_t b = m; a;) {
      const int64_t q = b / a;
      b -= q * a;
      y -= q * x;
      std::swap(a, b);
      std::swap(x, y);
    }
    return y;
  }

  // c % value: congruences
  void modulus(size_t place) {
    int64_t c = 0, m = 1;
    for (int s = 0; s < S; ++s) {
      const int64_t v = state_[place].at[s], t = target_.at[s];
      if (v <= t) return;
      const int64_t g = std::gcd(m, v);
      if ((t - c) % g) return;
      if (m > int64_t{1} << 32) continue;  // c is known; take() looks at the rest
      c += (t - c) / g % (v / g) * inverse(m / g % (v / g), v / g) % (v / g) * m;
      m = m / g * v;
      c = (c % m + m) % m;
    }
    take_after(MOD, c, place);
    take_after(MOD, c - m, place);
  }

  void compared(size_t place) {
    const int32_t* v = state_[place].at;
    for (int s = 0; s < S; ++s) {
      for (Op op : {LT, LE, EQ, NE}) {
        take_constant(op, place, v[s]);
        take_after(op, v[s], place);
      }
    }
  }

  void selects(uint32_t unused) {
    for (size_t k = n_; k < state_.size(); ++k) {
      if (!state_[k].condition) continue;
      struct Choice {
        Operand operand;
        uint32_t bit;
      };
      vector<Choice> choices[2];
      for (int side = 0; side < 2; ++side) {
        int first = -1;
        bool constant = true;
        for (int s = 0; s < S; ++s) {
          if (state_[k].at[s] != side) continue;
          if (first < 0) first = s;
          constant &= target_.at[s] == target_.at[first];
        }
        if (constant) choices[side].push_back({{true, first < 0 ? 0 : target_.at[first]}, 0});
        for (size_t v = 0; v < state_.size(); ++v) {
          bool right = true;
          for (int s = 0; s < S && right; ++s)
            right = state_[k].at[s] != side || state_[v].at[s] == target_.at[s];
          if (right) choices[side].push_back({own(v), bit(v)});
        }
      }
      for (const Choice& a : choices[1])
        for (const Choice& b : choices[0])
          if (!(unused & ~(a.bit | b.bit | bit(k)))) take(SELECT, own(k), a.operand, b.operand);
    }
  }
};

std::optional<vector<Made>> search(const Problem& problem, const vector<size_t>& chosen, int length,
                                   uint64_t& programs) {
  const size_t n = chosen.size();
  if (n <= 8) return Search<8>(problem, chosen, length).run(programs);
  if (n <= 16) return Search<16>(problem, chosen, length).run(programs);
  if (n <= 24) return Search<24>(problem, chosen, length).run(programs);
  if (n <= 32) return Search<32>(problem, chosen, length).run(programs);
  if (n <= 48) return Search<48>(problem, chosen, length).run(programs);
  if (n <= 64) return Search<64>(problem, chosen, length).run(programs);
  if (n <= 128) return Search<128>(problem, chosen, length).run(programs);
  std::fprintf(stderr, "more than 128 points tell no two programs apart\n");
  std::exit(1);
}

bool read(Problem& problem) {
  size_t constants, points;
  if (std::scanf("%d %zu", &problem.operations, &constants) != 2) return false;
  problem.constants.resize(constants);
  for (int32_t& c : problem.constants)
    if (std::scanf("%d", &c) != 1) return false;
  if (std::scanf("%d %zu", &problem.variables, &points) != 2) return false;
  problem.points.assign(points, vector<int32_t>(problem.variables + 1));
  for (auto& point : problem.points)
    for (int32_t& v : point)
      if (std::scanf("%d", &v) != 1) return false;
  return true;
}

int main() {
  Problem problem;
  if (!read(problem)) return 1;
  const size_t points = problem.points.size();
  vector<size_t> chosen;
  uint64_t draw = 1;
  while (chosen.size() < std::min<size_t>(points, 16)) {
    draw = draw * 6364136223846793005ULL + 1442695040888963407ULL;
    const size_t p = points <= 16 ? chosen.size() : (draw >> 33) % points;
    if (std::find(chosen.begin(), chosen.end(), p) == chosen.end()) chosen.push_back(p);
  }
  uint64_t programs = 0;
  for (int length = 1; length <= problem.operations;) {
    const auto found = search(problem, chosen, length, programs);
    if (!found) {
      ++length;
      continue;
    }
    const size_t wrong = wrong_at(problem, *found);
    if (wrong == points) {
      std::printf("found %d: %s\n", length, text(*found, problem.variables).c_str());
      return 0;
    }
    chosen.push_back(wrong);
    programs = 0;
    length = 1;
    if (std::getenv("VERBOSE"))
      std::fprintf(stderr, "%zu points: not %s\n", chosen.size(),
                   text(*found, problem.variables).c_str());
  }
  std::printf("none %llu\n", static_cast<unsigned long long>(programs));
}
