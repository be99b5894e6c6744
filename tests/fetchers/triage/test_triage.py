"""The state of a page is what a reader would see, whatever its status and its marks say."""

# ruff: noqa: E501 -- pages are written as they are

import time
from dataclasses import dataclass, fields

import orjson
import pytest
from selectolax.lexbor import LexborHTMLParser

from fetchers.page import State
from fetchers.triage.markers import words
from fetchers.triage.reader import read_signals
from fetchers.triage.signals import Signals
from fetchers.triage.triage import HEADERS_READ, triage, worth_a_browser

NOTE = (
    "<p>The library on Mill Street reopens on 6 May after eight months of repairs. The reading "
    "room has new windows, and loans are free for residents.</p>"
)
LEAD = (
    "<p>Fishing crews along the northern coast landed fewer cod this spring than in any year since "
    "records began, the marine institute said on Tuesday.</p>"
)
STORY = LEAD + "".join(
    f"<p>In district {n} the institute counted boats, nets and landings by hand, and compared them "
    "with logbooks which skippers had kept for decades, so that the figures could be checked "
    "against the prices which were paid at auction in the harbour towns.</p>"
    for n in range(1, 6)
)
MENU = (
    "<header><a href='/'>Home</a><a href='/login'>Log in</a><a href='/plus'>Subscribe</a></header>"
)
FORM = (
    "<form action='/session'><input name=u><input type=password name=p><button>Go</button></form>"
)
SCRIPT = "<script src='/static/bundle.js'></script>"


def html(title: str = "", body: str = "", head: str = "") -> str:
    return (
        f"<!doctype html><html><head><meta charset=utf-8><title>{title}</title>{head}</head>"
        f"<body>{body}</body></html>"
    )


def simple(title: str, text: str = "", more: str = "") -> str:
    return html(title, f"<h1>{title}</h1><p>{text}</p>{more}")


@dataclass(frozen=True)
class Body:
    words: int
    kind: str
    problem: str
    signals: Signals


def extracted(body: str, kind: str = "html", problem: str = "") -> Body:
    if kind != "html":
        return Body(words(body), kind, problem, read_signals(None, body, ""))
    tree = LexborHTMLParser(body)
    title = tree.css_first("title")
    text = tree.body.text(separator=" ") if tree.body else ""
    signals = read_signals(tree, text, title.text() if title else "")
    return Body(words(text), kind, problem, signals)


def state(
    body: str, status: int = 200, url: str = "https://site.example/a", kind: str = "html",
    problem: str = "", **headers: str,
) -> State:  # fmt: skip
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return triage(status, named, url, extracted(body, kind, problem))[0]


OK = {
    "an article": html(
        "Cod landings fall", f"<article><h1>Cod landings fall</h1>{STORY}</article>"
    ),
    "an article with a menu": html("Cod", MENU + f"<main>{STORY}</main>"),
    "a short notice": html("Library reopens", f"<h1>Library reopens</h1>{NOTE}"),
    "a short notice with a menu": html("Library", MENU + NOTE + "<footer>© Town</footer>" + SCRIPT),
    "a short notice beside a login box": html("Library", f"<div>{FORM}</div>{NOTE}"),
    "a short notice under a cookie banner": html(
        "Library",
        NOTE + "<div>We use cookies. <button>Accept all</button><button>Reject all</button></div>",
    ),
    "a short notice with a consent tool": html(
        "Library",
        "<div id='onetrust-consent-sdk'><h2>We value your privacy</h2><p>We and our partners store "
        f"and/or access information on a device.</p></div>{NOTE}",
    ),
    "a notice with an invitation to comment": html(
        "Library", f"<h1>Library</h1>{NOTE}<p>Please log in to leave a comment.</p>"
    ),
    "a notice with a newsletter": html(
        "Library",
        f"{NOTE}<form>Subscribe to our newsletter <input type=email></form><div class=g-recaptcha></div>",
    ),
    "a sentence with a wall's words and figures": simple(
        "Members approve budget",
        "The members approved full access to the accounts on 4 March, with 82 votes to 11.",
    ),
    "a notice of roadworks": simple(
        "Harbour tunnel closed on Sunday",
        "Scheduled maintenance closes the tunnel on Sunday 4 May from 6:00 to 14:00. Buses 3 and 8 "
        "take the bridge. We are sorry for the inconvenience.",
    ),
    "an article about captchas": html(
        "Are you a robot? How captchas came to be",
        f"<article><h1>Are you a robot?</h1>{STORY}<p>Please verify you are human, it said.</p>"
        "<p>Complete the CAPTCHA to continue.</p></article>",
    ),
    "an article called Access Denied": html(
        "Access Denied | Review", f"<h1>Access Denied</h1>{STORY}"
    ),
    "an article about missing pages": html("Page not found: lost books", f"<h1>404</h1>{STORY}"),
    "an article about paywalls": html(
        "Subscribe to continue reading", f"<article>{STORY}</article><aside>Newsletter</aside>"
    ),
    "an article about domains": html("This domain is for sale: a market", STORY),
    "a house number": simple("403 Elm Street", "Three rooms, a garden and a view of the river."),
    "a page number": simple(
        "500 recipes for bread", "Flour, water, salt and time are all it takes."
    ),
    "a story with a subscription box": html(
        "Cod", STORY + "<div class=subscribe-box>Already a subscriber? Sign in</div>"
    ),
    "a free story marked as paid": html(
        "Cod",
        STORY + "<script type='application/ld+json'>{\"isAccessibleForFree\": false}</script>",
    ),
    "a story behind a firewall": html(
        "Cod", f"<script src='/cdn-cgi/challenge-platform/scripts/jsd/main.js'></script>{STORY}"
    ),
    "a notice behind a firewall": html("Library", "<script src='/akam/13/5f2'></script>" + NOTE),
    "a notice with DataDome": html(
        "Library", NOTE + "<script src='https://js.datadome.co/tags.js'></script>"
    ),
    "a contact form with a captcha": html(
        "Contact",
        "<h1>Contact us</h1><p>Write to us, we answer within two days.</p><form><input name=name>"
        "<input type=email><textarea></textarea><div class='g-recaptcha'></div></form>"
        "<script src='https://www.google.com/recaptcha/api.js'></script>",
    ),
    "a drawn application": html(
        "Cod", f"<noscript>Please enable JavaScript.</noscript><div id=app>{STORY}</div>{SCRIPT}"
    ),
    "a short drawn application": html(
        "Library",
        f"<noscript>You need to enable JavaScript to run this app.</noscript>"
        f"<div id=root><h1>Library</h1>{NOTE}</div>{SCRIPT}",
    ),
    "a drawn application with an empty modal": html(
        "Cod", f"<div id=app>{STORY}</div><div class='modal'></div>{SCRIPT}"
    ),
    "a table": html(
        "Tide table",
        "<table>" + "<tr><td>6 May</td><td>04:12</td><td>3.1 m</td></tr>" * 8 + "</table>",
    ),
    "a list of links": html(
        "Annual reports", "".join(f"<li><a href='/{y}'>Report of {y}</a></li>" for y in range(9))
    ),
    "a folder": html(
        "Index of /pub/tides/2025",
        "<h1>Index of /pub/tides/2025</h1><pre>"
        + "".join(f"<a href='{m}.csv'>tides-{m}.csv</a> 2025-0{m}-01 12K\n" for m in range(1, 9))
        + "</pre>",
    ),
    "a page that is one form": html(
        "Cod", f"<form id='aspnetForm' action='./a.aspx'>{STORY}</form>"
    ),
    "Korean": html(
        "도서관 재개관",
        "<h1>도서관 재개관</h1><p>시립 도서관이 여덟 달의 공사를 마치고 "
        "5월 6일 다시 문을 엽니다. 열람실 창문을 새로 달았고 주민은 무료로 이용할 수 있습니다.</p>",
    ),
    "Korean with a menu": html(
        "도서관",
        "<nav><a href='#'>로그인</a><a href='#'>회원가입</a></nav><p>"
        "시립 도서관이 공사를 마치고 5월 6일에 다시 문을 엽니다.</p>",
    ),
    "Japanese": html(
        "図書館の再開",
        "<p>市立図書館は八か月の改修工事を終え、五月六日に再開します。"
        "閲覧室の窓が新しくなりました。</p>" + SCRIPT,
    ),
    "Chinese": html(
        "图书馆重新开放",
        "<p>市图书馆经过八个月的维修,将于五月六日重新开放,居民可以免费借阅。</p>" + SCRIPT,
    ),
    "Thai": html(
        "ห้องสมุด",
        "<p>ห้องสมุดเทศบาลจะเปิดให้บริการอีกครั้งในวันที่ 6 พฤษภาคมหลังจากปรับปรุงนานแปดเดือน</p>" + SCRIPT,
    ),
}

BLOCKED = {
    "Cloudflare": html(
        "Just a moment...",
        "<noscript>Enable JavaScript and cookies to continue</noscript>"
        "<script>window._cf_chl_opt={cvId:'3'}</script>",
    ),
    "Cloudflare, managed": simple(
        "site.example",
        "Verify you are human by completing the action below.",
        "<p>site.example needs to review the security of your connection before proceeding.</p>"
        "<p>Ray ID: 8f2</p><p>Performance &amp; security by Cloudflare</p>",
    ),
    "Cloudflare 1020": html(
        "Access denied | site.example used Cloudflare to restrict access",
        "<h1>Error 1020</h1><h2>Access denied</h2><h2>What happened?</h2><p>This website is using a "
        "security service to protect itself from online attacks.</p>",
    ),
    "Cloudflare, Attention": html(
        "Attention Required! | Cloudflare",
        "<h1>Sorry, you have been blocked</h1><h2>You are unable to access site.example</h2><p>The "
        "action you just performed triggered the security solution. There are several actions that "
        "could trigger this block including submitting a certain word or phrase, a SQL command or "
        "malformed data.</p><p>You can email the site owner to let them know you were blocked.</p>",
    ),
    "Turnstile": html(
        "site.example",
        "<div class=cf-turnstile></div>"
        "<script src='https://challenges.cloudflare.com/turnstile/v0/api.js'></script>",
    ),
    "DataDome": html(
        "site.example",
        "<p id=cmsg>Please enable JS and disable any ad blocker</p><script>var dd={'rt':'c'}</script>"
        "<script src='https://ct.captcha-delivery.com/c.js'></script>",
    ),
    "DataDome frame": html(
        "site.example", "<iframe src='https://geo.captcha-delivery.com/captcha/?x=1'></iframe>"
    ),
    "PerimeterX": html(
        "Access to this page has been denied.",
        "<div id=px-captcha></div><p>Press &amp; Hold to confirm you are a human (and not a bot).</p>"
        "<script>window._pxAppId='PX1'</script>",
    ),
    "Pardon": simple(
        "Pardon Our Interruption",
        "As you were browsing something about your browser made us think you were a bot. There are a "
        "few reasons this might happen:",
        "<ul><li>You're a power user moving through this website with super-human speed.</li><li>"
        "You've disabled cookies in your web browser.</li><li>A third-party browser plugin, such as "
        "Ghostery or NoScript, is preventing JavaScript from running.</li></ul><p>To regain access, "
        "please make sure that cookies and JavaScript are enabled before reloading the page.</p>",
    ),
    "Akamai": simple(
        "Access Denied",
        'You don\'t have permission to access "http://site.example/" on this server.',
        "<p>Reference #18.1a2b</p>",
    ),
    "Akamai behaviour": html(
        "",
        "<script src='/_sec/cp_challenge/ak-challenge-4-3.js'></script>"
        "<div id='sec-if-cpt-container'></div>",
    ),
    "AWS": html(
        "Human Verification",
        "<div id='captcha-container'></div>"
        "<script>window.gokuProps={}</script><script src='https://a.awswaf.com/c.js'></script>",
    ),
    "Kasada": html(
        "", "<script>window.KPSDK={};KPSDK.now=1</script><script src='/149e/ips.js?x=1'></script>"
    ),
    "Sucuri": simple(
        "Sucuri WebSite Firewall - Access Denied",
        "Block reason: bad bot.",
        "<p>Your request was blocked by the Sucuri firewall. Your IP: 192.0.2.1</p>",
    ),
    "DDoS-Guard": html(
        "DDoS-Guard",
        "<h1>Checking your browser before accessing site.example</h1>"
        "<p>This process is automatic.</p>",
    ),
    "Anubis": simple(
        "Making sure you're not a bot!",
        "Loading...",
        "<details><p>You are seeing this "
        "because the administrator of this website has set up Anubis to protect the "
        "server against the scourge of AI companies aggressively scraping websites.</p>"
        "</details>",
    ),
    "Vercel": simple("Vercel Security Checkpoint", "We're verifying your browser"),
    "Google": html(
        "https://site.example/search",
        "<div>About this page<br>Our systems have detected "
        "unusual traffic from your computer network. This page checks to see if it's "
        "really you sending the requests, and not a robot.</div><div class=g-recaptcha></div>",
    ),
    "Amazon": html(
        "Amazon.com",
        "<h4>Enter the characters you see below</h4><p>Sorry, we just need "
        "to make sure you're not a robot. For best results, please make sure your browser "
        "is accepting cookies.</p><form action='/errors/validateCaptcha'><input></form>",
    ),
    "Reddit": html(
        "Blocked",
        "<h2>You've been blocked by network security.</h2><p>To continue, log "
        "in to your Reddit account or use your developer token</p><p>If you think you've "
        "been blocked by mistake, file a ticket below and we'll look into it.</p>",
    ),
    "a declared tool": html(
        "SEC.gov | Request Rate Threshold Exceeded",
        "<h1>Your Request Originates from an Undeclared Automated Tool</h1><p>To allow for equitable "
        "access to all users, we reserve the right to limit requests originating from undeclared "
        "automated tools. Your request has been identified as part of a network of automated tools "
        "and will be managed until action is taken to declare your traffic.</p>",
    ),
    "F5": html(
        "Request Rejected",
        "The requested URL was rejected. Please consult with your "
        "administrator.<br>Your support ID is: 884<br><a href='#'>[Go Back]</a>",
    ),
    "hCaptcha": html("Security check", "<p>One more step</p><div class=h-captcha></div>"),
    "a robot check": simple("Robot Check", "Type the characters you see in this image:"),
    "an ad blocker": simple("Ad blocker detected", "Please disable your ad blocker to continue."),
    "German": simple("Sicherheitsüberprüfung", "Bitte bestätigen Sie, dass Sie ein Mensch sind."),
    "French": simple("Vérification", "Confirmez que vous n'êtes pas un robot pour continuer."),
    "Spanish": simple("Un momento", "Verifica que eres humano para continuar."),
    "Portuguese": simple("Verificação de segurança", "Confirme que você não é um robô."),
    "Italian": simple("Controllo di sicurezza", "Conferma di non essere un robot."),
    "Russian": simple("Ой!", "Подтвердите, что запросы отправляли вы, а не робот"),
    "Korean": simple(
        "접근이 제한되었습니다", "비정상적인 트래픽이 감지되었습니다. 로봇이 아님을 확인해 주세요."
    ),
    "Japanese": simple("アクセスが制限されています", "ロボットではないことを確認してください。"),
    "Chinese": simple("安全验证", "请完成安全验证后继续访问。"),
    "Chinese firewall": html(
        "405", "<p>很抱歉,由于您访问的URL有可能对网站造成安全威胁,您的访问被阻断。</p>"
    ),
    "too fast": simple("429 Too Many Requests", "You have made too many requests."),
    "Russia": simple("Доступ ограничен", "Слишком много запросов с вашего IP-адреса."),
    "a region": simple("Sorry", "This video is not available in your country."),
    "Europe": simple(
        "451: Unavailable due to legal reasons",
        "We recognize you are attempting to "
        "access this website from a country belonging to the European Economic Area "
        "(EEA) including the EU which enforces the General Data Protection Regulation "
        "(GDPR) and therefore access cannot be granted at this time.",
    ),
    "a Korean region": simple("안내", "해당 국가에서는 이용하실 수 없는 콘텐츠입니다."),
    "consent alone": html(
        "Before you continue to Google",
        "<h1>Before you continue</h1><p>We use "
        "cookies and data to deliver and maintain services.</p><button>Reject all"
        "</button><button>Accept all</button>",
    ),
    "age gate": simple(
        "Age verification",
        "You must be 18 years or older to enter.",
        "<button>Enter</button><button>Leave</button>",
    ),
}

LOGIN = {
    "a form": html("Sign in", f"<h1>Sign in</h1>{FORM}<a href='#'>Forgot password?</a>"),
    "a form without words": html("Portal", FORM),
    "a form with a captcha": html("Log in", f"<h1>Log in</h1>{FORM}<div class=g-recaptcha></div>"),
    "LinkedIn": html(
        "Sign Up | LinkedIn",
        "<h1>Join LinkedIn</h1><p>By clicking Agree &amp; Join, you "
        "agree to the LinkedIn User Agreement, Privacy Policy, and Cookie Policy.</p>"
        f"{FORM}<p>Already on LinkedIn? <a>Sign in</a></p>",
    ),
    "Facebook": html(
        "Log in to Facebook",
        f"<div>You must log in to continue.</div>{FORM}<a>Forgotten account?</a>",
    ),
    "members": simple("Members only", "This page is for members only. Please log in to view it."),
    "a forum": html(
        "Vbulletin",
        "<p>You are not logged in or you do not have permission to access "
        f"this page. Please log in to continue.</p>{FORM}",
    ),
    "a teaser": html("Report", "<h1>Report</h1><p>Sign in to view the full report.</p>"),
    "German": simple("Anmelden", "Bitte melden Sie sich an, um fortzufahren.", FORM),
    "French": simple("Connexion", "Veuillez vous connecter pour accéder à cette page.", FORM),
    "Spanish": simple("Iniciar sesión", "Debes iniciar sesión para ver este contenido.", FORM),
    "Portuguese": simple("Entrar", "Faça login para continuar.", FORM),
    "Italian": simple("Accedi", "Effettua il login per continuare.", FORM),
    "Russian": simple("Вход", "Войдите, чтобы продолжить. Забыли пароль?", FORM),
    "Korean café": simple("네이버 카페", "카페 멤버만 볼 수 있는 글입니다. 로그인해 주세요."),
    "Japanese": simple("ログイン", "このページを見るにはログインしてください。", FORM),
    "Chinese": simple("登录", "请先登录后查看。", FORM),
}

PAYWALL = {
    "a teaser": html(
        "Cod",
        f"<article>{LEAD}</article><div class=paywall><h2>Keep reading with a "
        "subscription</h2><p>Already a subscriber? Log in</p></div>",
    ),
    "a longer teaser": html(
        "Cod | The Post",
        f"<h1>Cod</h1>{LEAD}{LEAD}{LEAD}<div><h3>Subscribe to "
        "read the full story</h3><p>Only $4 a month. Cancel anytime.</p></div>",
    ),
    "limit": html(
        "Cod",
        f"{LEAD}<p>You've reached your limit of free articles.</p><p>Subscribe now to "
        "keep reading.</p>",
    ),
    "Medium": html(
        "Cod", f"{LEAD}<p>Member-only story</p><h2>Create an account to read the full story.</h2>"
    ),
    "Substack": html(
        "Cod",
        f"{LEAD}<h2>This post is for paid subscribers</h2><p><a>Subscribe</a></p>"
        "<p>Already a paid subscriber? <a>Sign in</a></p>",
    ),
    "subscribers": html("Cod", f"{LEAD}<p>This article is for subscribers only.</p>"),
    "a journal": html(
        "Cod stocks",
        f"<h2>Abstract</h2>{LEAD}<h2>Get access to the full version of "
        "this article</h2><p>Purchase instant access. Access through your institution."
        "</p>",
    ),
    "German": html(
        "Dorsch",
        f"{LEAD}<section><h2>Diesen Artikel weiterlesen mit Plus</h2><p>Bereits "
        "Abonnent? Anmelden</p></section>",
    ),
    "French": html(
        "Morue",
        f"{LEAD}<p>Cet article est réservé aux abonnés.</p><p>Il vous reste 80% de "
        "cet article à lire.</p>",
    ),
    "Spanish": html(
        "Bacalao",
        f"{LEAD}<h3>Suscríbete para seguir leyendo</h3><p>¿Ya eres suscriptor? Inicia sesión</p>",
    ),
    "Portuguese": html(
        "Bacalhau", f"{LEAD}<h3>Assine para continuar lendo</h3><p>Já é assinante? Entre</p>"
    ),
    "Italian": html(
        "Merluzzo",
        f"{LEAD}<h3>Abbonati per continuare a leggere</h3><p>Sei già abbonato? Accedi</p>",
    ),
    "Russian": html("Треска", f"{LEAD}<h3>Оформите подписку, чтобы прочитать полностью</h3>"),
    "Korean": html(
        "대구 어획",
        f"{LEAD}<div><strong>유료 구독자 전용 기사입니다</strong><p>구독하고 계속 "
        "읽으세요. 이미 구독 중이신가요? 로그인</p></div>",
    ),
    "Japanese": html(
        "タラ漁",
        f"{LEAD}<p>この記事は有料会員限定です。残り1200文字</p><p>有料会員になると続きを"
        "お読みいただけます。</p>",
    ),
    "Chinese": html("鳕鱼", f"{LEAD}<p>订阅后继续阅读全文</p><p>已订阅?请登录</p>"),
}

UNRENDERED = {
    "React": html(
        "App",
        f"<noscript>You need to enable JavaScript to run this app.</noscript><div "
        f"id=root></div>{SCRIPT}",
    ),
    "Nuxt": html("Cod", f"<div id='__nuxt'><!----></div>{SCRIPT}"),
    "Angular": html("Cod", f"<app-root></app-root>{SCRIPT}"),
    "a spinner": html("Cod", f"<div id=app><div class=spinner></div> Loading… </div>{SCRIPT}"),
    "a shell with a firewall": html(
        "Cod",
        "<div id=root></div><script src='/cdn-cgi/challenge-platform/scripts/jsd/main.js'>"
        f"</script>{SCRIPT}",
    ),
    "a shell with a frame around": html(
        "Cod",
        f"{MENU}<main><div id=app></div></main><footer>© 2026 The Post. All rights reserved."
        f"</footer>{SCRIPT}",
    ),
    "skeletons": html(
        "Shop", f"{MENU}<main>{'<div class=skeleton-card></div>' * 4}</main>{SCRIPT}"
    ),
    "a plain request": html("Map", "<p>Please enable JavaScript to view this page.</p>"),
    "X": html(
        "",
        "<h1>JavaScript is not available.</h1><p>We've detected that JavaScript is disabled in "
        "this browser. Please enable JavaScript or switch to a supported browser to continue "
        "using x.example.</p>",
    ),
    "a script that goes on": html("", "", "<script>top.location.href = '/next'</script>"),
    "a refresh": html(
        "Moved", "<p>Redirecting...</p>", "<meta http-equiv=refresh content='0; url=/b'>"
    ),
    "a refresh without words": html("", "", '<meta http-equiv="Refresh" content="1;URL=/b">'),
    "frames": "<html><head><title>Town</title></head><frameset cols='20%,80%'><frame src=a.html><frame "
    "src=b.html><noframes>Your browser does not support frames.</noframes></frameset></html>",
    "one frame": html("Viewer", "<iframe src='/viewer?id=3' width='100%'></iframe>"),
    "custom elements": html("", f"<ytd-app></ytd-app>{SCRIPT}{SCRIPT}"),
    "Korean": html(
        "지도", f"<noscript>자바스크립트를 활성화해 주세요</noscript><div id=app></div>{SCRIPT}"
    ),
    "Japanese": html("地図", "<p>JavaScriptを有効にしてください。</p>" + SCRIPT),
    "German": html(
        "Karte", "<p>Bitte aktivieren Sie JavaScript, um diese Seite zu nutzen.</p>" + SCRIPT
    ),
    "French": html(
        "Carte", "<p>Veuillez activer JavaScript pour afficher cette page.</p>" + SCRIPT
    ),
}

DEAD = {
    "soft 404": simple("Page not found", "Sorry, we couldn't find the page you were looking for."),
    "soft 404 with a menu": html(
        "404 - The Post",
        f"{MENU}<h1>Oops!</h1><p>The page you are looking "
        "for may have been moved or deleted.</p><a href='/'>Back to home</a>",
    ),
    "soft 404 with links": html(
        "Page Not Found | The Post",
        "<h1>Page not found</h1><h2>Most read</h2>"
        + "".join(
            f"<li><a href='/{n}'>Why harbour {n} has the best fish in town</a></li>"
            for n in range(20)
        ),
    ),
    "expired": simple("Job", "This job is no longer available."),
    "removed": simple(
        "This content isn't available right now",
        "When this happens, it's usually "
        "because the owner only shared it with a small group of people, changed who can "
        "see it or it's been deleted.",
    ),
    "video": simple("Video unavailable", "This video has been removed by the uploader."),
    "server error": simple(
        "Internal Server Error", "Something went wrong. Please try again later."
    ),
    "WordPress": html(
        "WordPress › Error", "<p>There has been a critical error on this website.</p>"
    ),
    "database": html("Database Error", "<h1>Error establishing a database connection</h1>"),
    "parked": html(
        "site.example",
        "<h1>site.example</h1><p>This domain may be for sale.</p><ul><li><a>"
        "Car insurance</a><li><a>Cheap flights</a></ul><p>Related searches</p>",
    ),
    "Sedo": html(
        "site.example - domain for sale",
        "<p>Buy this domain. This webpage was generated by the "
        "domain owner using Sedo Domain Parking.</p>",
    ),
    "GoDaddy": html(
        "site.example", "<p>This Web page is parked FREE, courtesy of GoDaddy.com.</p>"
    ),
    "GoDaddy script": html(
        "site.example",
        "",
        "<script>window.onload=function(){window.location.href="
        "'/lander'}</script><script src='//img1.wsimg.com/parking-lander/m.js'>"
        "</script>",
    ),
    "suspended": simple(
        "Account Suspended",
        "This account has been suspended. Contact your hosting provider for more information.",
    ),
    "expired domain": simple("Domain expired", "This domain has expired. Renew your domain now."),
    "Apache": simple(
        "Apache2 Ubuntu Default Page: It works",
        "This is the default welcome page used to "
        "test the correct operation of the Apache2 server after installation on Ubuntu "
        "systems. If you can read this page, it means that the Apache HTTP server "
        "installed at this site is working properly. You should replace this file "
        "before continuing to operate your HTTP server.",
    ),
    "it works": html("", "<h1>It works!</h1>"),
    "IIS": html("IIS Windows Server", "<a href='#'><img src=iisstart.png alt=IIS></a>"),
    "Plesk": simple(
        "Web Server's Default Page",
        "This page is generated by Plesk. You see this page "
        "because there is no Web site at this address.",
    ),
    "Tomcat": simple(
        "Apache Tomcat",
        "If you're seeing this, you've successfully installed Tomcat. Congratulations!",
    ),
    "an empty folder": html(
        "Index of /", "<h1>Index of /</h1><pre><a href='cgi-bin/'>cgi-bin/</a></pre>"
    ),
    "maintenance": simple(
        "Under maintenance",
        "Our website is undergoing scheduled maintenance. We'll be back shortly.",
    ),
    "coming soon": simple("Coming soon", "Our new website is on its way."),
    "nothing": "",
    "nothing drawn": html("Empty"),
    "German": simple(
        "Seite nicht gefunden", "Die gewünschte Seite konnte leider nicht gefunden werden."
    ),
    "French": simple("Page introuvable", "La page que vous recherchez n'existe plus."),
    "Spanish": simple(
        "Página no encontrada", "La página que buscas no existe o ha sido eliminada."
    ),
    "Portuguese": simple("Página não encontrada", "A página que você procura não existe."),
    "Italian": simple("Pagina non trovata", "La pagina che stai cercando non esiste."),
    "Russian": simple(
        "Страница не найдена", "Запрашиваемая страница не существует или была удалена."
    ),
    "Korean": simple(
        "페이지를 찾을 수 없습니다", "요청하신 페이지가 존재하지 않거나 삭제되었습니다."
    ),
    "Korean, a post": simple("알림", "삭제되었거나 존재하지 않는 게시물입니다."),
    "Korean, works": simple("시스템 점검 안내", "더 나은 서비스를 위해 시스템 점검 중입니다."),
    "Japanese": simple(
        "ページが見つかりません", "お探しのページは削除されたか、URLが変更された可能性があります。"
    ),
    "Chinese": simple("页面不存在", "您访问的页面不存在或已被删除。"),
    "for sale in German": html(
        "site.example steht zum Verkauf", "<p>Diese Domain steht zum Verkauf.</p>"
    ),
}


@pytest.mark.parametrize(
    ("expected", "name", "body"),
    [
        pytest.param(expected, name, body, id=f"{expected}-{name}")
        for expected, pages in {
            "ok": OK, "blocked": BLOCKED, "login": LOGIN, "paywall": PAYWALL,
            "unrendered": UNRENDERED, "dead": DEAD,
        }.items()
        for name, body in pages.items()
    ],
)  # fmt: skip
def test_the_state_of_a_page_with_status_200(expected: State, name: str, body: str) -> None:
    assert state(body) == expected


@pytest.mark.parametrize(
    ("expected", "title", "text"),
    [
        ("blocked", "Even geduld", "Controleren of u een mens bent."),
        ("blocked", "Jeszcze chwila", "Weryfikacja, czy jesteś człowiekiem."),
        ("blocked", "Helaas", "Uw toegang is geblokkeerd. Meld dit onder nummer 4711."),
        ("login", "Leden", "Meld u aan om deze pagina te lezen."),
        ("login", "Strefa członka", "Musisz się zalogować, tylko wtedy zobaczysz tę stronę."),
        ("dead", "Helaas", "Deze pagina bestaat niet meer."),
        ("dead", "Ups", "Nie znaleziono strony o tym adresie."),
        ("dead", "Nieuw", "Deze domeinnaam is te koop."),
        ("dead", "Nearly there", "This domain isn't connected to a website yet."),
    ],
)
def test_a_sentence_with_a_pair_of_words_is_a_mark(expected: State, title: str, text: str) -> None:
    assert state(html(title, f"<p>{text}</p>")) == expected


@pytest.mark.parametrize(
    "offer",
    [
        "Dieser Artikel ist Abonnenten vorbehalten. Jetzt 1 Monat für 0,99 Euro testen.",
        "Verder lezen? Dit artikel is alleen voor abonnees. Nu 4 weken voor 1 euro.",
        "Dalszą część przeczytasz w płatnej wersji. Pozostało 85% tekstu.",
    ],
)
def test_digits_in_another_sentence_do_not_matter(offer: str) -> None:
    assert state(html("Cod", f"<article>{LEAD}<p>{offer}</p></article>")) == "paywall"


def test_the_address_of_a_refresh_is_searched_for_marks() -> None:
    head = "<meta http-equiv=refresh content=\"5; URL='/a?bm-verify=AAQ'\">"
    assert state(html(head=head, body="<noscript>Protected</noscript>")) == "blocked"


@pytest.mark.parametrize(
    ("status", "body", "expected"),
    [
        (203, OK["an article"], "ok"),
        (404, OK["an article"], "dead"),
        (410, "", "dead"),
        (403, OK["an article"], "ok"),
        (403, OK["a short notice"], "blocked"),
        (403, html("403 Forbidden", "<h1>403 Forbidden</h1><hr>nginx"), "blocked"),
        (403, "", "blocked"),
        (401, "", "login"),
        (401, html("401 Authorization Required", "<h1>401 Authorization Required</h1>"), "login"),
        (402, html("Cod", LEAD), "paywall"),
        (403, html("Sign in", f"<h1>Sign in to continue</h1>{FORM}"), "login"),
        (451, html("", "<p>Unavailable.</p>"), "blocked"),
        (400, html("Bad Request", "<h1>Bad Request</h1>"), "dead"),
        (204, "", "dead"),
        (202, BLOCKED["AWS"], "blocked"),
        (405, BLOCKED["AWS"], "blocked"),
        (429, BLOCKED["too fast"], "blocked"),
        (429, BLOCKED["Kasada"], "blocked"),
        (429, "", "unreachable"),
        (503, BLOCKED["DDoS-Guard"], "blocked"),
        (503, BLOCKED["Cloudflare"], "blocked"),
        (503, DEAD["maintenance"], "unreachable"),
        (500, "", "unreachable"),
        (999, html("", "<script>location.href='/authwall'</script>"), "blocked"),
        (
            522,
            html(
                "site.example | 522: Connection timed out",
                "<h1>Connection timed out</h1><p>Error code 522</p><p>Cloudflare Ray ID: 8f2</p>"
                "<p>Performance &amp; security by Cloudflare</p>",
            ),
            "unreachable",
        ),
    ],
)
def test_the_status_is_one_piece_of_evidence(status: int, body: str, expected: State) -> None:
    assert state(body, status) == expected


def test_the_final_url_counts_on_a_page_with_little_text() -> None:
    body = html("Portal", "<p>One moment.</p>" + SCRIPT)
    assert state(body, url="https://site.example/accounts/login?next=%2Fa") == "login"
    assert state(body, url="https://www.google.com/sorry/index?continue=x") == "blocked"
    assert state(body, url="https://www.hugedomains.com/domain_profile.cfm") == "dead"
    assert state(OK["a short notice"], url="https://site.example/login/history") == "ok"
    assert state(OK["an article"], url="https://[bad/login") == "ok"


def test_headers_that_only_walls_send_count() -> None:
    assert state(OK["an article"], cf_mitigated="challenge") == "blocked"
    assert state("", 202, x_amzn_waf_action="challenge") == "blocked"
    assert state(OK["a short notice"], server="cloudflare", cf_ray="8f2") == "ok"
    assert "cf-mitigated" in HEADERS_READ


@pytest.mark.parametrize(
    ("body", "kind", "status", "expected"),
    [
        ("The harbour closes at nine.", "text", 200, "ok"),
        ("date,height\n2026-05-06,3.1\n", "csv", 200, "ok"),
        ('{"tides": [{"date": "2026-05-06", "height": 3.1}]}', "json", 200, "ok"),
        ('{"name": "cod", "status": "threatened", "code": 12}', "json", 200, "ok"),
        ('{"error": {"code": 404, "message": "Not found"}}', "json", 200, "dead"),
        ('{"message": "Not Found"}', "json", 200, "dead"),
        ('{"detail": "Authentication credentials were not provided."}', "json", 401, "login"),
        ('{"message": "Forbidden"}', "json", 403, "blocked"),
        ("error code: 1020", "text", 200, "blocked"),
        ("404 page not found", "text", 200, "dead"),
        ("Too many requests", "text", 200, "blocked"),
        ("", "text", 200, "dead"),
    ],
)
def test_bodies_other_than_html(body: str, kind: str, status: int, expected: State) -> None:
    assert state(body, status, kind=kind) == expected


def test_the_reason_of_a_body_that_cannot_be_read() -> None:
    body = Body(0, "pdf", "a scanned PDF: pictures of pages, no text", Signals())
    assert triage(200, {}, "https://site.example/a.pdf", body) == ("dead", body.problem)
    read = Body(900, "pdf", "", Signals())
    assert triage(200, {}, "https://site.example/a.pdf", read) == ("ok", "")


def test_the_reason_names_the_mark() -> None:
    body = extracted(BLOCKED["Cloudflare"])
    assert triage(200, {}, "https://site.example/", body)[1] == "Cloudflare challenge"


def test_signals_can_be_stored_in_the_ledger() -> None:
    signals = extracted(BLOCKED["Google"]).signals
    row = orjson.loads(orjson.dumps({f.name: getattr(signals, f.name) for f in fields(signals)}))
    assert Signals(**{**row, "marks": tuple(row["marks"])}) == signals


def test_the_states_that_are_worth_a_browser() -> None:
    worth = {"blocked", "login", "paywall", "unrendered"}
    states: list[State] = [
        "ok", "blocked", "login", "paywall", "unrendered", "dead", "refused", "unreachable"
    ]  # fmt: skip
    assert {name for name in states if worth_a_browser(name)} == worth


@pytest.mark.parametrize(
    "body",
    [
        "<div>" * 20_000 + "deep",
        "<nav>" * 10_000 + "<a>" * 10_000 + "x",
        "<p>the page " * 50_000,
        "<p>" + "the page you " * 200_000,
        "<script>location" + " " * 300_000 + "</script>",
        "<div class='" + "a " * 300_000 + "' style='display" + " " * 300_000 + "'>",
        "<title>" + " - " * 100_000 + "</title>",
        "<h1>" + "- " * 200_000,
        "<div id=root>" * 10_000,
        "<noscript>" + "enable " * 100_000,
        "\ud800\x00<p>\udfff just a moment",
    ],
)
def test_hostile_pages_take_linear_time(body: str) -> None:
    tree = LexborHTMLParser(body.encode("utf-8", "surrogatepass"))
    title = tree.css_first("title")
    started = time.perf_counter()
    signals = read_signals(tree, "", title.text() if title else "")
    triage(200, {}, "https://site.example/", Body(1, "html", "", signals))
    assert time.perf_counter() - started < 2
