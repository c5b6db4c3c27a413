# SPDX-License-Identifier: MIT
"""What `./run stack` finds in small programs: recursion, unknown sizes, the deepest way."""

from pathlib import Path

import pytest
from analyse import words_of
from bounding.calls import Function, Graph, read_ci
from bounding.programs import Compiled, Program
from bounding.threads import ORDINARY, SIZES, Stacks, constant, look_at, matched
from lib.program import TOP

GCC = ("gcc", "-g", "-O2", "-fno-inline", "-fstack-usage", "-fcallgraph-info=su,da", "-c")
CLANG = ("clang", "-w", "-g", "-O0", "-fsanitize=kcfi", "-S", "-emit-llvm")

# Something that no optimisation leaves out.
USE = "void use(void *);\n"


def looked(folder: Path, *sources: str) -> Stacks:
    """At a program of some files: a.c, b.c and so on."""
    files = []
    for name, text in zip("abc", sources, strict=False):
        source, into = folder / f"{name}.c", folder / "made" / name
        source.write_text(USE + text)
        commands = [*GCC, "-o", f"{into}.o", source.name], [*CLANG, "-o", f"{into}.ll", source.name]
        files.append(Compiled(source.name, source, commands, into))
        files[-1].make(folder)
    program = Program(folder, "program", files)
    pointers = program.pointers
    known, given = pointers.by_place(), pointers.given
    return look_at("program", program.functions, known, pointers.taken, given, TOP)


def names(stacks: Stacks) -> list[list[str]]:
    return [[step.function.rpartition(":")[2] for step in way] for way in stacks.recursions]


def test_the_deepest_way_is_added_up(tmp_path: Path) -> None:
    stacks = looked(
        tmp_path,
        "void deep(void);\nvoid flat(void);\nint main(void) { flat(); deep(); return 0; }\n",
        "void leaf(void) { char room[3000]; use(room); }\n"
        "void deep(void) { char room[5000]; use(room); leaf(); use(room); }\n"
        "void flat(void) { char room[6000]; use(room); }\n",
    )
    assert stacks.problems() == []
    (thread,) = stacks.threads
    assert [step.function for step in thread.way] == ["main", "deep", "leaf"]
    assert 8000 <= thread.needs < 8200
    assert (thread.has, stacks.libraries) == (ORDINARY, ("use",))
    assert thread.way[1].place == f"{tmp_path}/b.c:3"


def test_a_recursion_over_files_is_found(tmp_path: Path) -> None:
    stacks = looked(
        tmp_path,
        "int other(int);\nint one(int n) { use(&n); return n ? other(n) + 1 : 0; }\n"
        "int main(void) { return one(9); }\n",
        "int one(int);\nint other(int n) { use(&n); return one(n - 1) + 1; }\n",
    )
    assert names(stacks) == [["one", "other"]]
    assert stacks.problems() == ["program: one calls other calls one: a recursion"]
    assert stacks.threads == (), "there is no deepest way"


def test_a_function_that_calls_itself_is_found(tmp_path: Path) -> None:
    stacks = looked(
        tmp_path,
        "static int tree(int n) { use(&n); return n < 2 ? n : tree(n - 1) + tree(n - 2); }\n"
        "int main(void) { return tree(9); }\n",
    )
    assert [way[0] for way in names(stacks)] == ["tree"]


def test_a_loop_is_no_recursion(tmp_path: Path) -> None:
    text = "int main(int count, char **words) { while (count--) { use(words); } return 0; }\n"
    assert looked(tmp_path, text).problems() == []


@pytest.mark.parametrize("room", ["char room[n];", "char *room = __builtin_alloca(n);"])
def test_stack_of_no_known_size_is_found(tmp_path: Path, room: str) -> None:
    text = f"int main(int n, char **words) {{ {room} use(room); return 0; }}\n"
    (step,) = looked(tmp_path, text).dynamic
    assert step.function == "main"


OPS = """struct ops { int (*first)(int); int (*second)(int); };
struct object { const struct ops *ops; int value; };
"""


def test_pointers_are_followed_through_structures(tmp_path: Path) -> None:
    """The first calls by the pointer that has the second, in another file; and that none."""
    stacks = looked(
        tmp_path,
        OPS + "extern struct object *object;\n"
        "int call_first(int n) { return object->ops->first(n) + 1; }\n"
        "int call_second(int n) { return object->ops->second(n) + 1; }\n",
        OPS + "int call_first(int);\nint call_second(int);\n"
        "static int first(int n) { use(&n); return call_second(n) + 1; }\n"
        "static int second(int n) { char room[5000]; use(room); return n; }\n"
        "static const struct ops ops = { .first = first, .second = second };\n"
        "static struct object one = { &ops, 0 };\nstruct object *object = &one;\n"
        "int main(void) { return call_first(9); }\n",
    )
    assert stacks.problems() == [], "both are of one type, but of two members"
    (thread,) = stacks.threads
    way = [step.function.rpartition(":")[2] for step in thread.way]
    assert way == ["main", "call_first", "first", "call_second", "second"]


GIVEN = """struct watch { void (*ready)(void *); void *data; };
void watch(struct watch *watch, void (*ready)(void *), void *data);
void dispatch(struct watch *watch);
"""


def test_pointers_are_followed_through_parameters(tmp_path: Path) -> None:
    """What is called when something is ready waits for that itself: a recursion."""
    stacks = looked(
        tmp_path,
        GIVEN + "void watch(struct watch *watch, void (*ready)(void *), void *data) {\n"
        "\twatch->ready = ready;\n\twatch->data = data;\n}\n"
        "void dispatch(struct watch *watch) { watch->ready(watch->data); use(watch); }\n",
        GIVEN + "static void handle(void *data) { dispatch(data); use(data); }\n"
        "int main(void) {\n\tstruct watch one;\n\twatch(&one, handle, &one);\n"
        "\tdispatch(&one);\n\treturn 0;\n}\n",
    )
    (way,) = names(stacks)
    assert sorted(way) == ["dispatch", "handle"]


def test_memory_of_which_nothing_is_known_may_have_any_of_the_type(tmp_path: Path) -> None:
    text = """typedef int (*step)(int);
int run(step *steps, int n) { return steps[n](n) + 1; }
step *all;
static int again(int n) { use(&n); return run(all, n) + 1; }
static long of_another_type(long n) { use(&n); return run(all, 1) + 1; }
static step kept = again;
static long (*other)(long) = of_another_type;
int main(void) { use(&kept); use(&other); return run(&kept, 0); }
"""
    (way,) = names(looked(tmp_path, text))
    assert sorted(way) == ["again", "run"]


def test_threads_are_found_with_what_they_have(tmp_path: Path) -> None:
    stacks = looked(
        tmp_path,
        "#include <pthread.h>\n"
        "static void *run(void *data) { char room[5 << 20]; use(room); return data; }\n"
        "int main(void) { pthread_t thread; return pthread_create(&thread, 0, run, 0); }\n",
    )
    assert [thread.function.rpartition(":")[2] for thread in stacks.threads] == ["run", "main"]
    (problem, *_) = stacks.problems()
    assert f"more than half of {ORDINARY}" in problem


def test_what_a_library_may_call_back_comes_on_top(tmp_path: Path) -> None:
    (thread,) = looked(
        tmp_path,
        "#include <stdlib.h>\n"
        "static int order(const void *a, const void *b) {\n"
        "\tchar room[4000];\n\tuse(room);\n\treturn a < b;\n}\n"
        "int main(void) { int all[99]; qsort(all, 99, 4, order); use(all); return 0; }\n",
    ).threads
    assert [step.function.rpartition(":")[2] for step in thread.called_back] == ["order"]
    assert thread.needs > 4000 + 99 * 4


def test_sizes_of_stacks_are_those_of_the_sources() -> None:
    sizes = {constant((TOP / file).read_text(), name) for file, name in SIZES.values()}
    assert sizes == {256 << 10}
    with pytest.raises(ValueError):
        constant("#define OTHER 5\n", "GID_THREAD_STACK")


def test_lines_of_two_compilers_are_matched() -> None:
    known = {"a.c:10": {"one"}, "a.c:30": {"two"}, "b.c:12": {"three"}}
    found = matched(["a.c:10", "a.c:12", "a.c:50", "c.c:1"], known)
    assert found == {"a.c:10": {"one"}, "a.c:12": {"one"}, "a.c:50": None, "c.c:1": None}


def test_an_excused_call_counts_once() -> None:
    program = {
        "loop": Function("loop", stack=100, calls={"handle", "leaf"}),
        "handle": Function("handle", stack=10, calls={"loop"}),
        "leaf": Function("leaf", stack=1),
    }
    assert Graph(program, {}).recursions == [["handle", "loop"]]
    graph = Graph(program, {}, [("loop", "handle"), ("loop", "nobody")])
    assert graph.recursions == [] and graph.excused == {("loop", "handle")}
    assert graph.deepest("loop").names == ("loop", "handle", "loop", "leaf")
    assert graph.deepest("loop").stack == 211
    assert graph.reached("handle") == {"handle", "loop", "leaf"}


def test_copies_that_gcc_makes_are_functions_of_their_own() -> None:
    about = r"f\n../x.c:3:5\n48 bytes (dynamic,bounded)\n0 dynamic objects"
    text = f"""graph: {{ title: "../x.c"
node: {{ title: "../x.c:f.constprop.0" label: "{about}" }}
edge: {{ sourcename: "../x.c:f.constprop.0" targetname: "*puts" label: "../x.c:4:2" }}
edge: {{ sourcename: "../x.c:f.constprop.0" targetname: "__indirect_call" label: "../x.c:5:2" }}
}}
"""
    (function,) = read_ci(text, lambda path: path.removeprefix("../"))
    assert (function.name, function.place) == ("x.c:f.constprop.0", "x.c:3")
    assert (function.stack, function.is_dynamic) == (48, False)
    assert (function.calls, function.by_pointer) == ({"puts"}, {"x.c:5"})


def test_an_alias_is_the_function_itself() -> None:
    """gcc 16 calls a library's own functions by one."""
    about = r"../x.c:3:5\n48 bytes (static)\n0 dynamic objects"
    alias = "../x.c:f.localalias"
    text = f"""graph: {{ title: "../x.c"
node: {{ title: "f" label: "f\\n{about}" }}
node: {{ title: "{alias}" label: "f.localalias\\n../x.c:3:5" shape : triangle }}
edge: {{ sourcename: "{alias}" targetname: "f" label: "../x.c:3:5" }}
node: {{ title: "g" label: "g\\n{about}" }}
edge: {{ sourcename: "g" targetname: "{alias}" label: "../x.c:9:2" }}
}}
"""
    functions = read_ci(text, lambda path: path.removeprefix("../"))
    assert {one.name: one.calls for one in functions} == {"f": set(), "g": {"f"}}


@pytest.mark.parametrize("cache", ["", "ccache ", "/usr/bin/ccache "])
def test_no_file_comes_from_a_cache(cache: str) -> None:
    """One knows nothing of the calls that gcc writes down beside the object."""
    assert words_of(f"{cache}cc '-DNAME=\"a b\"' -c a.c") == ["cc", '-DNAME="a b"', "-c", "a.c"]
