"""Pages with prose are `ok` whatever signs of walls they carry; walls stay walls whatever is added.

Each page is read by the real extractor, as the grader reads it.
"""

# ruff: noqa: E501 -- pages are written as they are

import pytest

from fetchers.page import State
from fetchers.reading.extract import extract
from fetchers.triage.triage import triage


def state(body: str, status: int = 200, url: str = "https://site.example/a") -> State:
    return triage(status, {}, url, extract(body.encode(), "text/html"))[0]


def page(title: str, body: str, head: str = "", attributes: str = "") -> str:
    return (
        f"<!doctype html><html><head><meta charset=utf-8><title>{title}</title>{head}</head>"
        f"<body{attributes}>{body}</body></html>"
    )


# Six paragraphs of some 45 words each.
_PARAGRAPHS = (
    "The old ferry between Ness and Holm made its last crossing on Friday evening, with some two hundred people on the quay and a brass band that played until the ramp went up. It had carried farmers, pupils and post across the sound for sixty one years without a serious accident.",
    "A bridge of eleven spans replaces it from Monday. The county paid 214 million crowns for the structure, about nine million less than it had planned, because the winter was mild and divers could work on the foundations until the end of November, said the engineer Marit Aune.",
    "Not everybody on the island is happy. The shopkeeper at the harbour expects to lose half of her customers to the supermarket on the mainland, and the school may be merged with the one in Ness, although the council has promised to wait for three more years before it decides.",
    "Others see a beginning. A young couple from the city bought the empty dairy in spring and wants to make cheese there, two carpenters have opened a workshop for wooden boats, and the priest reports that seven children were baptised this year, more than in the four years before.",
    "The ferry itself will not be scrapped. A museum on the west coast takes it over, repairs its diesel engine from 1958 and intends to show visitors how people travelled before the tunnels and bridges came. Its captain, who turns seventy in May, will explain the controls on weekends.",
    "Tolls finance a third of the bridge. A car pays 62 crowns in each direction for the first twelve years, while buses, ambulances and bicycles cross for nothing. The county expects some nine hundred vehicles a day in winter and twice as many during the weeks of the summer holidays.",
)
TEXT = "".join(f"<p>{text}</p>" for text in _PARAGRAPHS)  # 280 words
LONG = TEXT * 5  # some 1400 words
SHORT = "".join(f"<p>{text}</p>" for text in _PARAGRAPHS[:2])  # some 95 words
HEADING = "<h1>The last crossing of the Ness ferry</h1>"
SCRIPTS = "".join(
    f"<script async src='https://cdn{n}.example/{name}.js'></script>"
    for n, name in enumerate(["gtm", "ads", "consent", "chat", "share", "video", "ab", "rum"] * 5)
)
JUMP = "<script>if (top !== self) { top.location = self.location; } function go(u) { window.location.href = u; }</script>"
CAPTCHA = "<script src='https://www.google.com/recaptcha/api.js'></script><div class='g-recaptcha' data-sitekey=a></div>"
LOGIN_FORM = "<form action='/login'><input name=user><input type=password name=pass><button>Sign in</button></form>"
MENU = "<nav><a href='/'>Home</a> <a href='/news'>News</a> <a href='/login'>Sign in</a> <a href='/plus'>Subscribe</a> <a href='/contact'>Contact</a></nav>"
LEGAL = (
    "<p>By using this website you agree to our Terms of Service and acknowledge that you have read our Privacy Policy. We process personal data such as your IP address and device identifiers on the basis of our legitimate interest in the security of our services, and you may object to such processing at any time.</p>"
    "<p>All content on this website is protected by copyright. Any reproduction, distribution or automated access without our prior written consent is prohibited and may be pursued under applicable law. All trademarks are the property of their respective owners.</p>"
    "<p>To the fullest extent permitted by law, we disclaim all warranties, express or implied, and accept no liability for damages that arise from the use of this website. These terms are governed by the laws of the country in which we have our registered office.</p>"
)  # some 125 words
POPULAR = "<h2>Most read</h2>" + "".join(
    f"<div class='card'><h3><a href='/{n}'>{title}</a></h3><p>{teaser}</p></div>"
    for n, (title, teaser) in enumerate(
        [
            (
                "Harbour opens a fish market",
                "From June, crews sell their catch to residents at the west quay every morning but Sunday.",
            ),
            (
                "School choir wins in the capital",
                "Forty pupils and their conductor came home with the first prize and a very tired bus driver.",
            ),
            (
                "Snow closes the mountain road",
                "The road over the pass stays closed until the ploughs have cleared the drifts, perhaps by Thursday.",
            ),
            (
                "A new doctor for the island",
                "After two years without one, the practice in the old customs house has a doctor again.",
            ),
            (
                "Ten walks for the autumn",
                "Our readers have sent us their favourite paths through heath, forest and along the shore.",
            ),
            (
                "Council debates parking fees",
                "The proposal would double the price in the centre and make the first half hour free.",
            ),
            (
                "The baker who never sleeps",
                "We spent a night in the bakery on Mill Street and learned how two hundred loaves are made.",
            ),
            (
                "Storm damages three boats",
                "Nobody was hurt when moorings broke in the marina during the night to Wednesday, said the warden.",
            ),
            (
                "Library lends tools now",
                "Drills, ladders and sewing machines can be borrowed for a week with an ordinary library card.",
            ),
            (
                "What the budget means for you",
                "We explain in plain words which taxes rise, which fees fall and what the town intends to build.",
            ),
        ]
    )
)

HEALTHY = {
    "a blog with forty scripts": page("The last crossing", SCRIPTS + HEADING + LONG + SCRIPTS),
    "a blog in an empty root": page("The last crossing", f"<div id=root></div>{HEADING}{LONG}{SCRIPTS}"),
    "a blog that an inline style hides until a script shows it": page(
        "The last crossing", f"<div id=wrapper style='display:none'>{HEADING}{LONG}</div>{SCRIPTS}"
    ),
    "a blog in an open shadow root": page(
        "The last crossing",
        f"<blog-post><template shadowrootmode=open>{HEADING}{LONG}</template></blog-post>{SCRIPTS}",
    ),
    "a blog in a frame with its source inline": page(
        "The last crossing", f"<iframe srcdoc=\"{HEADING}{LONG}\"></iframe>{SCRIPTS}"
    ),
    "a blog in which everything is one link": page(
        "The last crossing", f"<div id=app></div><a href='/a'><div>{HEADING}{LONG}</div></a>{SCRIPTS}"
    ),
    "a blog in a header that is never closed": page(
        "The last crossing", f"<header><h1>Ness Post</h1>{HEADING}{LONG}{SCRIPTS}"
    ),
    "a blog in a navigation that is never closed": page(
        "The last crossing", f"<nav><a href='/'>Home</a>{HEADING}{LONG}{SCRIPTS}"
    ),
    "a blog in an aside": page("The last crossing", f"<aside>{HEADING}{LONG}</aside>{SCRIPTS}"),
    "a blog in a banner role": page("The last crossing", f"<div role=banner>{HEADING}{LONG}</div>{SCRIPTS}"),
    "a blog in a wrapper named after a consent tool": page(
        "The last crossing", f"<div class='page cookie-consent-enabled cookie-banner'>{HEADING}{LONG}</div>{SCRIPTS}"
    ),
    "a blog in a dialog": page("The last crossing", f"<dialog open>{HEADING}{LONG}</dialog>{SCRIPTS}"),
    "a blog as the source text of slides": page(
        "The last crossing", f"<textarea id=source>{' '.join(_PARAGRAPHS * 5)}</textarea>{SCRIPTS}"
    ),
    "a blog whose noscript part is the text": page(
        "The last crossing", f"<div id=root></div><noscript>{HEADING}{LONG}</noscript>{SCRIPTS}"
    ),
    "a list of posts with teasers": page("Blog", f"<div id=app></div>{POPULAR}{SCRIPTS}"),
    "a list of posts beside a login box": page("Blog", f"{MENU}{LOGIN_FORM}{POPULAR}{SCRIPTS}"),
    "an article in which every word is in a label": page(
        "The last crossing", f"<label>{HEADING}{LONG}</label>{SCRIPTS}"
    ),
    "an article with jumps in its scripts": page("The last crossing", JUMP * 3 + HEADING + TEXT),
    "an article that refreshes itself": page(
        "The last crossing", HEADING + TEXT, "<meta http-equiv=refresh content='300;url=/a'>"
    ),
    "an article that asks for JavaScript in its head": page(
        "The last crossing", f"<noscript>Please enable JavaScript to view this site.</noscript><div id=root></div>{HEADING}{TEXT}"
    ),
    "an article with one skeleton": page(
        "The last crossing", f"<div class=skeleton-loader></div>{HEADING}{SHORT}<div class='shimmer ad'></div>{SCRIPTS}"
    ),
    "an article with frames": page(
        "The last crossing", f"{HEADING}{TEXT}<iframe src='https://video.example/1'></iframe><iframe src='/ad'></iframe>"
    ),
    "an article under a header with sign in and subscribe": page(
        "The last crossing", f"<header><a>Sign in</a><a>Subscribe</a><p>Subscribe to continue reading</p></header>{HEADING}{TEXT}"
    ),
    "an article whose comments need a login": page(
        "The last crossing", f"{HEADING}{TEXT}<h2>Comments</h2><p>You must be logged in to post a comment.</p>{LOGIN_FORM}"
    ),
    "a short article whose comments need a login": page(
        "The last crossing", f"{HEADING}{SHORT}<h2>Comments</h2><p>You must log in to comment.</p>"
    ),
    "an article with a captcha": page("The last crossing", HEADING + TEXT + CAPTCHA),
    "a short article with a captcha in its comments": page(
        "The last crossing", f"{HEADING}{SHORT}<form><textarea></textarea><input type=email>{CAPTCHA}</form>"
    ),
    "an article with a login dialog": page(
        "The last crossing", f"{HEADING}{TEXT}<div class=modal><h2>Sign in</h2>{LOGIN_FORM}<a>Forgot password?</a></div>"
    ),
    "an article with a login off the screen": page(
        "The last crossing", f"<div style='position:absolute;left:-9999px'><h1>Sign in to continue</h1><p>You must log in to view this page.</p>{LOGIN_FORM}{LEGAL}</div>{HEADING}{SHORT}"
    ),
    "404 ways to cook": page("404 ways to cook", f"<h1>404 ways to cook cod</h1>{SHORT}"),
    "a short text about number 404": page("404 ways to cook", "<h1>404 ways to cook cod</h1><p>Our cook book has grown again. Fry it, poach it, salt it.</p>"),
    "Access denied, a history": page(
        "Access denied: the history of the Ness toll gate", f"<h1>Access denied: the history of the Ness toll gate</h1>{SHORT}"
    ),
    "an article about parked domains": page(
        "This domain is for sale: who buys parked domains?",
        "<h1>This domain is for sale</h1><p>You have seen the words: this domain is for sale, buy this domain now.</p>" + TEXT,
    ),
    "an article about error pages": page(
        "Page not found: the art of the error page", f"<h1>Page not found</h1><p>Sorry, the page you are looking for does not exist.</p>{TEXT}"
    ),
    "an article about captchas": page(
        "Verify you are human", f"<h1>Verify you are human</h1><p>Please complete the CAPTCHA to continue, says the page.</p>{TEXT}{CAPTCHA}"
    ),
    "an article about paywalls": page(
        "Subscribe to continue reading", f"<h1>Subscribe to continue reading</h1>{TEXT}<p>This article is for subscribers only, it said.</p>"
    ),
    "an article about JavaScript": page(
        "JavaScript is disabled", f"<h1>JavaScript is disabled</h1><p>Please enable JavaScript to run this app.</p>{TEXT}"
    ),
    "a free article with an offer at its end": page(
        "The last crossing", f"{HEADING}{TEXT}<div class=paywall-offer><h2>Support our work</h2><p>Subscribe now for 4 crowns a week. Already a subscriber? Sign in.</p></div>"
    ),
    "terms of service": page("Terms of Service", f"<h1>Terms of Service</h1>{LEGAL}{LEGAL}{SCRIPTS}"),
    "a legal notice of one paragraph": page("Imprint", f"<h1>Imprint</h1>{LEGAL}<div id=app></div>{SCRIPTS}"),
    "a privacy policy beside a login box": page(
        "Privacy Policy | Ness Post", f"{LOGIN_FORM}<h1>Privacy Policy</h1>{LEGAL}{CAPTCHA}<div id=onetrust-consent-sdk>We use cookies.</div>"
    ),
    "a cookie policy": page(
        "Cookie policy", f"<h1>Cookie policy</h1><p>This website uses cookies and similar technologies. We use cookies to remember your settings, to measure how often a page is read, and to show a map. You can delete cookies at any time in your browser, and refuse the ones that are not necessary in our cookie settings. A cookie lives for at most thirteen months.</p>{LEGAL}"
    ),
    "a film with the name of an error": page(
        "Forbidden", "<h1>Forbidden</h1><p>Forbidden is a film from 1932 about a librarian who falls in love on a cruise to Havana. It was directed by Frank Capra and runs for 85 minutes.</p>"
    ),
    "a notice with the badge of an invisible captcha": page(
        "Library", "<p>The library on Mill Street reopens on 6 May after eight months of repairs, with new windows and longer hours.</p><div class=grecaptcha-badge></div><script src='https://www.google.com/recaptcha/api.js'></script>"
    ),
    "an article that links to an article about errors": page(
        "The last crossing", f"{HEADING}{SHORT}<h2><a href='/b'>Page not found: how we lost our archive</a></h2><h2><a href='/c'>Access denied</a></h2>"
    ),
    "an article around a link target that is never closed": page(
        "The last crossing", f"<a name=top>{HEADING}{LONG}{SCRIPTS}"
    ),
    "a list of links beside an empty root": page(
        "Archive", "<div id=app></div>" + "".join(f"<p><a href='/{n}'>Minutes of the council meeting of 3 May {n}</a></p>" for n in range(1980, 2020)) + SCRIPTS
    ),
    "a forum thread with a login box": page(
        "Ferry timetable", f"<div class=login-box>Log in or register {LOGIN_FORM}</div><h1>Ferry timetable</h1>{SHORT}<p>You must log in to reply.</p>"
    ),
}  # fmt: skip

WALLS: dict[str, tuple[State, str]] = {
    "a challenge with a legal footer": ("blocked", page(
        "Just a moment...",
        f"<h1>site.example</h1><p>Verify you are human by completing the action below.</p><div class=cf-turnstile></div><footer>{LEGAL}{LEGAL}</footer>",
    )),
    "a challenge with a legal text in plain paragraphs": ("blocked", page(
        "Security check", f"<h1>Verify you are human</h1><p>Please complete the CAPTCHA to continue.</p>{CAPTCHA}{LEGAL}",
    )),
    "a challenge with a footer of divs": ("blocked", page(
        "Access denied", f"<h1>Access denied</h1><p>You do not have permission to access this page.</p><div class='site-footer'>{LEGAL}</div>",
    )),
    "a captcha with twice the legal text": ("blocked", page(
        "Are you a robot?", f"<h1>Are you a robot?</h1><p>Please confirm that you are not a robot.</p>{CAPTCHA}<div>{LEGAL}{LEGAL}</div>",
    )),
    "a rate limit with an explanation": ("blocked", page(
        "429 Too Many Requests",
        "<h1>Too many requests</h1><p>You have made too many requests.</p><p>We limit the number of requests so that everybody can use the service. If you need the data in bulk, please use our interface for programs, which has limits of its own and needs a key. Keys are free for research and cost a small fee for companies. Write to the address in the imprint and name the purpose, the amount of data and the time at which you want to fetch them. Requests without a key are counted by address, and the count begins anew each hour.</p>",
    )),
    "a soft 404 with popular articles": ("dead", page(
        "Page not found - Ness Post", f"{MENU}<h1>Page not found</h1><p>Sorry, the page you are looking for does not exist.</p>{POPULAR}",
    )),
    "a soft 404 with popular articles as a list": ("dead", page(
        "404 | Ness Post", f"{MENU}<h1>Oops! That page can't be found.</h1><p>It looks like nothing was found at this location. Maybe try a search?</p><ul>{POPULAR.replace('<div', '<li').replace('</div>', '</li>').replace('h3>', 'b>')}</ul>",
    )),
    "a soft 404 with a whole newspaper below": ("dead", page(
        "Page not found", f"<h1>Error 404</h1><p>The page you requested could not be found.</p>{POPULAR}{POPULAR.replace('Most read', 'Latest')}{MENU}<footer>{LEGAL}</footer>",
    )),
    "a captcha without a title of its own": ("blocked", page(
        "Ness Post", f"<p>Please complete the CAPTCHA below to continue.</p>{CAPTCHA}{LEGAL}",
    )),
    "a soft 404 with popular articles, one a line": ("dead", page(
        "Page not found", f"<h1>Page not found</h1><ul>{''.join(f'<li><a href=/{n}>The council debates the harbour again</a> and the crews, the shopkeepers and the school wait for a decision that nobody expects before autumn</li>' for n in range(12))}</ul>",
    )),
    "a soft 404 with popular articles and their dates": ("dead", page(
        "Page not found", f"<h1>Page not found</h1>{POPULAR.replace('</h3>', '</h3><p>12 May 2025</p>')}",
    )),
    "a paywall in front of its plans": ("paywall", page(
        "The last crossing", f"{HEADING}{SHORT}<h2>Subscribe to read on</h2><p>Subscribe to continue reading this story.</p><p>Digital: every article, the evening newsletter and the crossword, on two devices.</p><p>Paper and digital: all of that, and the printed edition in your letter box on six days.</p>",
    )),
    "a challenge with much text off the screen": ("blocked", page(
        "Just a moment...", f"<h1>Checking your browser</h1><p>Verify you are human.</p><div style='position:absolute;left:-9999px'>{LONG}</div>{SCRIPTS}",
    )),
    "a challenge with some text off the screen": ("blocked", page(
        "Just a moment...", f"<h1>Checking your browser</h1><p>Verify you are human.</p><div style='position:absolute;left:-9999px'>{TEXT}</div>{SCRIPTS}",
    )),
    "a soft 404 with much text off the screen before it": ("dead", page(
        "Ness Post", f"<div style='position:absolute;left:-9999px'>{LONG}</div><h1>Page not found</h1><p>Sorry, the page you are looking for does not exist.</p>",
    )),
    "a challenge with much text that a style sheet hides": ("blocked", page(
        "Just a moment...", f"<h1>Checking your browser</h1><p>Verify you are human.</p><div class=pad>{LONG}</div>", "<style>.pad { display: none }</style>",
    )),
    "a login after much text that a style sheet hides": ("login", page(
        "Members", f"<div class=pad>{LONG}</div><h1>Sign in to continue</h1>{LOGIN_FORM}", "<style>.pad { opacity: 0 }</style>",
    )),
    "a shell with much text off the screen": ("unrendered", page(
        "Ness Post", f"<div id=root></div><div style='position:absolute;left:-9999px'>{LONG}</div>{SCRIPTS}",
    )),
    "a paywall after 95 words": ("paywall", page(
        "The last crossing", f"<article>{HEADING}{SHORT}</article><p>Subscribe to continue reading.</p>",
    )),
    "a paywall after 120 words": ("paywall", page(
        "The last crossing",
        f"<article>{HEADING}{SHORT}<p>Not everybody on the island is happy. The shopkeeper at the harbour expects to lose half of her customers to the supermarket on the mainland.</p></article><div>Subscribe to continue</div>",
    )),
    "a paywall with an offer": ("paywall", page(
        "The last crossing",
        f"{MENU}<article>{HEADING}{SHORT}<p>Not everybody on the island is happy. The shopkeeper at the harbour expects to lose half</p></article><div class=paywall><h2>To read the full story, subscribe</h2><p>Four weeks for one crown. Cancel anytime.</p><p>Already a subscriber? Sign in</p></div><footer>{LEGAL}</footer>",
    )),
    "a paywall with popular articles": ("paywall", page(
        "The last crossing", f"{HEADING}<p>{_PARAGRAPHS[0]}</p><h2>This article is for subscribers only</h2><p>Already a subscriber? Log in</p>{POPULAR}",
    )),
    "a login with marketing": ("login", page(
        "Log in",
        f"<h1>Log in</h1>{LOGIN_FORM}<p>Forgot password?</p><p>Join two million members who share their walks, photos and recipes with friends and neighbours every day. It is free and takes a minute.</p>{LEGAL}",
    )),
    "a login with a legal footer": ("login", page(
        "Members", f"<h1>Sign in to continue</h1>{LOGIN_FORM}<p>Forgot your password?</p><div id=footer>{LEGAL}</div>",
    )),
    "members only, with popular articles": ("login", page(
        "Members only", f"<h1>Members only</h1><p>You must log in to view this page.</p>{POPULAR}",
    )),
    "a shell with a legal footer": ("unrendered", page(
        "Ness Post", f"<div id=root></div>{SCRIPTS}<footer>{LEGAL}{LEGAL}</footer>",
    )),
    "a shell with a menu and a footer": ("unrendered", page(
        "Ness Post", f"{MENU}<div id=app></div>{SCRIPTS}<div class=footer>{LEGAL}</div>",
    )),
    "a shell with a long request": ("unrendered", page(
        "Ness Post",
        f"<div id=root></div><noscript>You need to enable JavaScript to run this app. In your browser, open the settings, choose Privacy and Security, then Site settings, and allow sites to use JavaScript. Then reload the page.</noscript>{SCRIPTS}",
    )),
    "instructions how to enable JavaScript": ("unrendered", page(
        "JavaScript required",
        "<h1>JavaScript is disabled</h1><p>Please enable JavaScript to use this site.</p><p>In Chrome, open the settings, choose Privacy and Security, then Site settings, and allow JavaScript.</p><p>In Firefox, enter about:config and set javascript.enabled to true.</p>",
    )),
    "skeletons in a frame of menu and footer": ("unrendered", page(
        "Shop", f"{MENU}<main>{'<div class=skeleton></div>' * 6}</main>{SCRIPTS}<footer>{LEGAL}</footer>",
    )),
    "a script that jumps, with a legal footer": ("unrendered", page(
        "Ness Post", f"<p>Redirecting...</p><script>location.replace('/next')</script><footer>{LEGAL}</footer>",
    )),
    "a parked domain with much text": ("dead", page(
        "ness-ferry.example is for sale",
        f"<h1>ness-ferry.example</h1><p>This domain is for sale!</p><p>Interested in this domain? Make an offer on this domain.</p><ul>{''.join(f'<li><a>{x}</a></li>' for x in ('Ferries', 'Travel insurance', 'Cheap hotels', 'Car hire'))}</ul><p>Related searches</p>{LEGAL}",
    )),
    "maintenance with a legal footer": ("dead", page(
        "Under maintenance", f"<h1>Under maintenance</h1><p>Our website is undergoing scheduled maintenance. We'll be back shortly.</p><div class=footer>{LEGAL}</div>",
    )),
    "a consent wall with a long text": ("blocked", page(
        "Before you continue",
        "<h1>Before you continue</h1><p>We and our 842 partners store and/or access information on a device, such as cookies, and process personal data, such as unique identifiers and standard information sent by a device, for personalised advertising and content, measurement of advertising and content, audience research and the development of services.</p><p>With your permission we and our partners may use precise location data and identification through scanning of devices. You may click to consent to the processing described above. Your preferences will apply to this website only. You can change your preferences or withdraw your consent at any time.</p><button>Accept all</button><button>Reject all</button><button>Manage options</button>",
    )),
}  # fmt: skip


@pytest.mark.parametrize("body", HEALTHY.values(), ids=HEALTHY)
def test_a_page_with_prose_is_ok(body: str) -> None:
    assert state(body) == "ok"


@pytest.mark.parametrize(("expected", "body"), WALLS.values(), ids=WALLS)
def test_a_wall_stays_a_wall(expected: State, body: str) -> None:
    assert state(body) == expected
